// SPDX-License-Identifier: GPL-2.0-only
/*
 * schedtape: records how one workload is scheduled, and drives its replay.
 */
#include <linux/module.h>
#include <schedtape/version.h>

#include "base/work.h"
#include "control/control.h"
#include "record/attach.h"
#include "record/clock.h"
#include "record/dump.h"
#include "record/machine.h"
#include "record/selftest.h"
#include "record/trigger.h"
#include "record/watch.h"
#include "replay/replay.h"

static int __init stape_init(void)
{
	int ret;

	ret = stape_attach_init();
	if (ret)
		goto err_attach;
	stape_missing_init();
	stape_clock_init();
	stape_dump_init();
	ret = stape_work_init();
	if (ret)
		goto err_work;
	ret = stape_selftest_init();
	if (ret)
		goto err_selftest;
	ret = stape_machine_init();
	if (ret)
		goto err_machine;
	ret = stape_netlink_init();
	if (ret)
		goto err_netlink;
	ret = stape_device_init();
	if (ret)
		goto err_device;
	return 0;

err_device:
	stape_netlink_exit();
err_netlink:
	stape_machine_exit();
err_machine:
err_selftest:
	stape_work_exit();
err_work:
	stape_attach_exit();
err_attach:
	return ret;
}

static void __exit stape_exit(void)
{
	stape_device_exit();
	stape_netlink_exit();
	stape_replay_exit();
	stape_trigger_exit();
	stape_extras_exit();
	stape_machine_exit();
	stape_work_exit();
	stape_attach_exit();
}

module_init(stape_init);
module_exit(stape_exit);

MODULE_AUTHOR("The schedtape developers");
MODULE_DESCRIPTION("Records how a workload is scheduled, and replays it");
MODULE_LICENSE("GPL");
MODULE_VERSION(SCHEDTAPE_VERSION);
