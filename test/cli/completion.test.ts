import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { SHOWN_COMMANDS } from '../support/program.ts'
import { runInProcess } from '../support/run-command.ts'
import { COMPLETED } from './completed.ts'

const shown = SHOWN_COMMANDS.map((command) => ({
  name: command.name(),
  options: command.options.map(({ long = '' }) => long),
}))

/** Returns the content of COMPREPLY in bash at the end of each line. */
async function completed(
  t: Test,
  lines: readonly (readonly string[])[],
): Promise<readonly (readonly string[])[]> {
  const { code, out: script } = await runInProcess(['completion', 'bash'])
  t.equal(code, 0)
  const folder = t.testdir({ 'one.yaml': '', 'two.json': '' })
  const file = join(folder, 'completion')
  writeFileSync(file, script)
  const asked = lines.map(
    (words) =>
      `COMP_WORDS=(engine-gateway ${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length}; _engine_gateway; echo "\${COMPREPLY[*]}"`,
  )
  const text = [`source '${file}'`, 'complete -p engine-gateway', ...asked].join('\n')
  const out = execFileSync('bash', ['--norc', '-c', text], { cwd: folder, encoding: 'utf8' })
  const [declared, ...replies] = out.trimEnd().split('\n')
  t.equal(declared, 'complete -F _engine_gateway engine-gateway')
  return lines.map((_, at) => (replies[at] ?? '').split(' ').filter((word) => word !== ''))
}

t.test('bash completes every command with its options', async (t) => {
  const lines = shown.map(({ name }) => [name, '-'])
  const replies = await completed(t, [[''], ...lines])
  t.same(replies[0], [...shown.map(({ name }) => name), 'help'])
  for (const [at, { name, options }] of shown.entries())
    for (const option of [...options, '--help']) t.ok(replies[at + 1]?.includes(option), `${name} ${option}`)
})

t.test('bash completes values wherever the command is in the line', async (t) => {
  const replies = await completed(
    t,
    COMPLETED.map(([words]) => words),
  )
  for (const [at, [words, expected]] of COMPLETED.entries()) t.same(replies[at], expected, words.join(' '))
})

t.test('the zsh and fish scripts contain every command and option', async (t) => {
  const { out: zsh } = await runInProcess(['completion', 'zsh'])
  t.match(zsh, /^#compdef engine-gateway\n/)
  const { out: fish } = await runInProcess(['completion', 'fish'])
  for (const { name, options } of shown) {
    t.match(zsh, `'${name}:`)
    const lines = fish.split('\n').filter((line) => line.includes(`'__fish_seen_subcommand_from ${name}'`))
    for (const option of options) {
      t.match(zsh, `${option}[`)
      t.ok(
        lines.some((line) => line.includes(` -l ${option.slice(2)} `)),
        `${name} ${option}`,
      )
    }
  }
  // Both shells have the quoting rules of bash. This check finds quotes that do not end.
  for (const script of [zsh, fish]) execFileSync('bash', ['-n'], { input: script })
})

t.test('completion refuses an unknown or missing shell', async (t) => {
  t.match(await runInProcess(['completion', 'csh']), {
    code: 2,
    out: '',
    err: /'csh' is invalid for argument 'SHELL'. Allowed choices are bash, zsh, fish\./,
  })
  t.match(await runInProcess(['completion']), { code: 2, err: /missing required argument 'SHELL'/ })
})
