// SPDX-License-Identifier: GPL-2.0-only
/*
 * A plugin of QEMU's TCG, see README.  Its argument is out=FILE.  Orders are:
 *
 *	symbols		lines of /proc/kallsyms follow
 *	run NAME	what the next measurements belong to
 *	on PHASE	begin to count
 *	off		end, and append a line of JSON to FILE
 *
 * While it is off, it only looks for the instruction of mark.h in what is translated.
 */
#include <stdlib.h>
#include <string.h>

#include "plugin.h"

QEMU_PLUGIN_EXPORT int qemu_plugin_version = QEMU_PLUGIN_VERSION;

/* nopl 0x53545031(%rax) */
static const uint8_t mark[] = { 0x0f, 0x1f, 0x80, 0x31, 0x50, 0x54, 0x53 };

static const char * const reg_names[REGS] = { "rsp", "eflags", "rdi", "rsi" };

/* A CPU's registers. */
static struct cpu {
	struct qemu_plugin_register *regs[REGS];
	GByteArray *value;
} cpus[PLUGIN_CPUS_MAX];

static const char *out_path;
static char *run, *phase;
static bool on;

uint64_t plugin_reg(unsigned int cpu, enum reg reg)
{
	GByteArray *value = cpus[cpu].value;
	uint64_t number = 0;

	g_byte_array_set_size(value, 0);
	if (qemu_plugin_read_register(cpus[cpu].regs[reg], value) <= 0)
		abort();
	memcpy(&number, value->data, value->len < 8 ? value->len : 8);
	return number;
}

static void init_cpu(qemu_plugin_id_t id, unsigned int cpu)
{
	GArray *all = qemu_plugin_get_registers();
	unsigned int i, reg;

	cpus[cpu].value = g_byte_array_new();
	for (i = 0; i < all->len; i++) {
		qemu_plugin_reg_descriptor *d =
			&g_array_index(all, qemu_plugin_reg_descriptor, i);

		for (reg = 0; reg < REGS; reg++)
			if (!strcmp(d->name, reg_names[reg]))
				cpus[cpu].regs[reg] = d->handle;
	}
	g_array_free(all, TRUE);
}

static void report(void)
{
	FILE *out = fopen(out_path, "a");

	if (!out) {
		perror(out_path);
		abort();
	}
	fprintf(out, "{\"run\": \"%s\", \"phase\": \"%s\"", run ? run : "", phase ? phase : "");
	calls_report(out);
	fprintf(out, "}\n");
	fclose(out);
}

static void translate(qemu_plugin_id_t id, struct qemu_plugin_tb *tb);

static void reset(qemu_plugin_id_t id)
{
	qemu_plugin_register_vcpu_tb_trans_cb(id, translate);
}

static void set(char **text, const char *value)
{
	free(*text);
	*text = strdup(value);
}

/* Code that has been translated is forgotten, so that callbacks come and go. */
static void turn(qemu_plugin_id_t id, bool begin)
{
	if (on == begin)
		return;
	on = begin;
	if (begin)
		calls_begin();
	else
		report();
	qemu_plugin_reset(id, reset);
}

static qemu_plugin_id_t plugin_id;

static void obey(unsigned int cpu, void *data)
{
	uint64_t addr = plugin_reg(cpu, REG_TEXT), length = plugin_reg(cpu, REG_LENGTH);
	GByteArray *text = g_byte_array_new();
	unsigned int tries = 1000;
	char *order;

	/* Another CPU's khugepaged may just be replacing the pages. */
	while (!qemu_plugin_read_memory_vaddr(addr, text, length)) {
		if (!tries--) {
			fprintf(stderr, "plugin: an order cannot be read\n");
			abort();
		}
		g_usleep(10000);
	}
	g_byte_array_append(text, (const uint8_t *)"", 1);
	order = (char *)text->data;
	if (!strncmp(order, "symbols\n", 8))
		symbols_read(order + 8);
	else if (!strncmp(order, "run ", 4))
		set(&run, order + 4);
	else if (!strncmp(order, "on ", 3))
		set(&phase, order + 3), turn(plugin_id, true);
	else if (!strcmp(order, "off"))
		turn(plugin_id, false);
	else
		fprintf(stderr, "plugin: there is no order '%.40s'\n", order);
	g_byte_array_free(text, TRUE);
}

static bool is_mark(const struct qemu_plugin_insn *insn)
{
	uint8_t bytes[sizeof(mark)];

	return qemu_plugin_insn_size(insn) == sizeof(mark) &&
	       qemu_plugin_insn_data(insn, bytes, sizeof(bytes)) == sizeof(bytes) &&
	       !memcmp(bytes, mark, sizeof(mark));
}

/* Blocks are never freed: others may still execute them. */
static struct block *describe(struct qemu_plugin_tb *tb)
{
	struct block *block = malloc(sizeof(*block));

	if (!block)
		abort();
	*block = (struct block){
		.addr = qemu_plugin_tb_vaddr(tb), .insns = qemu_plugin_tb_n_insns(tb),
		.symbol = symbols_find(qemu_plugin_tb_vaddr(tb)),
	};
	return block;
}

static void translate(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	size_t i;

	for (i = 0; i < qemu_plugin_tb_n_insns(tb); i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);

		if (is_mark(insn))
			qemu_plugin_register_vcpu_insn_exec_cb(insn, obey, QEMU_PLUGIN_CB_R_REGS,
							       NULL);
	}
	if (on)
		calls_translate(tb, describe(tb));
}

QEMU_PLUGIN_EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info,
					   int argc, char **argv)
{
	int arg;

	plugin_id = id;
	for (arg = 0; arg < argc; arg++)
		if (!strncmp(argv[arg], "out=", 4))
			out_path = strdup(argv[arg] + 4);
	if (!out_path || strcmp(info->target_name, "x86_64") ||
	    info->system.max_vcpus > PLUGIN_CPUS_MAX) {
		fprintf(stderr, "plugin: set out=FILE; a guest has at most %d CPUs\n",
			PLUGIN_CPUS_MAX);
		return -1;
	}
	qemu_plugin_register_vcpu_init_cb(id, init_cpu);
	reset(id);
	return 0;
}
