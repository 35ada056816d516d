import { readFileSync } from 'node:fs'
import t from 'tap'
import { COMMANDS } from '../../src/cli/commands.ts'
import { runInProcess } from '../support/run-command.ts'

t.test('an invalid argument is refused with the usage and one line', async (t) => {
  const cases: readonly (readonly [readonly string[], string])[] = [
    [['start', 'check', '--config', 'x.yaml'], "start takes no 'check'"],
    [['check', 'extra', '--config', 'x.yaml'], "check takes no 'extra'"],
    [['schema', 'extra'], "schema takes no 'extra'"],
    [['check', '--write', 'x.json'], 'check takes no --write'],
    [['--frobnicate'], "Unknown option '--frobnicate'"],
    [['start', '--config'], "Option '-c, --config <value>' argument missing"],
    [['frobnicate'], "There is no command 'frobnicate'"],
    [['policy'], 'policy test needs FILE'],
    [['help', 'chekc'], "There is no command 'chekc': did you mean check?"],
    [['--confg', 'x.yaml'], "Unknown option '--confg': did you mean --config?"],
    [['explain', '--format', 'jsn'], 'explain needs REQUEST'],
    [['suggest', '--format', 'jsn'], "--format takes text or json, not 'jsn': did you mean json?"],
  ]
  for (const [args, line] of cases) {
    const { code, out, err } = await runInProcess(args)
    t.match({ code, out }, { code: 2, out: '' }, args.join(' '))
    t.match(err, /^Usage: engine-gateway/)
    t.equal(err.slice(err.indexOf('\n\n')), `\n\n${line}\n`)
  }
})

t.test('a command may follow options, as the entry point of the image passes it', async (t) => {
  t.match(await runInProcess(['--config', 'x.yaml', 'suggest']), {
    code: 0,
    out: /^authorizations: \[\]$/m,
  })
  t.match(await runInProcess(['--config', 'x.yaml', 'policy', '--format', 'json', 'test', '-h']), {
    code: 0,
    out: /^Usage: engine-gateway policy test/,
  })
  t.match(await runInProcess(['--user', 'explain', 'check']), {
    code: 2,
    err: /^Usage: engine-gateway check/,
  })
})

t.test('help and version are printed whatever the other arguments are', async (t) => {
  const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))
  for (const args of [['version'], ['--version'], ['check', '-v']])
    t.same(await runInProcess(args), { code: 0, out: `${version}\n`, err: '' })
  for (const args of [['help'], ['--help'], ['--config', 'x.yaml', '-h']])
    t.match(await runInProcess(args), { code: 0, out: /^Usage: engine-gateway \[COMMAND\]/, err: '' })
  for (const args of [
    ['help', 'check'],
    ['check', '-h'],
    ['check', '--help', '--config', 'x.yaml'],
  ])
    t.match(await runInProcess(args), { code: 0, out: /^Usage: engine-gateway check/, err: '' })
  t.match(await runInProcess(['start', '-h']), { out: /^Usage: engine-gateway \[start\] --config FILE\n/ })
})

t.test('an option has the same type and short form in every command that has it', (t) => {
  const seen = new Map<string, string>()
  for (const { name, options } of COMMANDS) {
    for (const [option, { type, short = '', multiple = false }] of Object.entries(options)) {
      // The command is found with the options of all commands. An option with a value in one command must not be a flag in another.
      const shape = type === 'boolean' ? `boolean ${short}` : `value ${short}`
      t.equal(seen.get(option) ?? shape, shape, `${name} --${option} ${multiple}`)
      seen.set(option, shape)
    }
  }
  const shorts = [...seen.values()].map((shape) => shape.split(' ')[1]).filter((short) => short !== '')
  t.equal(new Set(shorts).size, shorts.length, 'and no two have one letter')
  t.end()
})

t.test('the help of every command shows its examples, exit codes, options and operands', async (t) => {
  for (const { name, isHidden, examples, exitCodes, options, operands = [] } of COMMANDS) {
    if (isHidden) continue
    const { out } = await runInProcess([...name.split(' '), '--help'])
    t.ok(examples.length > 0 && exitCodes.length > 1, name)
    for (const example of examples) t.ok(out.includes(`\n  ${example}\n`), example)
    for (const [code, meaning] of exitCodes) t.ok(out.includes(`\n  ${code}  ${meaning}\n`), name)
    for (const option of Object.keys(options)) t.ok(out.includes(` --${option}`), `${name} --${option}`)
    for (const operand of operands) t.ok(out.includes(`\n  ${operand.name} `), `${name} ${operand.name}`)
    t.same(
      out.split('\n').filter((line) => line.length > 110),
      [],
      `${name} fits a terminal`,
    )
  }
})
