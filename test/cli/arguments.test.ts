import { readFileSync } from 'node:fs'
import t from 'tap'
import { SHOWN_COMMANDS } from '../support/program.ts'
import { runInProcess } from '../support/run-command.ts'

t.test('an invalid argument is refused with its problem', async (t) => {
  const cases: readonly (readonly [readonly string[], string])[] = [
    [
      ['start', 'check', '--config', 'x.yaml'],
      "too many arguments for 'start'. Expected 0 arguments but got 1: check.",
    ],
    [
      ['check', 'extra', '--config', 'x.yaml'],
      "too many arguments for 'check'. Expected 0 arguments but got 1: extra.",
    ],
    [['schema', 'extra'], "too many arguments for 'schema'. Expected 0 arguments but got 1: extra."],
    [['check', '--write', 'x.json'], "unknown option '--write'"],
    [['--frobnicate'], "unknown option '--frobnicate'"],
    [['start', '--config'], "option '-c, --config <FILE>' argument missing"],
    [['start'], "required option '-c, --config <FILE>' not specified"],
    [[], "required option '-c, --config <FILE>' not specified"],
    [['frobnicate'], "unknown command 'frobnicate'"],
    [['chekc'], "unknown command 'chekc'\n(Did you mean check?)"],
    [['schema', '--wriet', 'x.json'], "unknown option '--wriet'\n(Did you mean --write?)"],
    [['--confg', 'x.yaml'], "unknown option '--confg'\n(Did you mean --config?)"],
    [['explain', '--confg', 'x.yaml', 'GET /task'], "unknown option '--confg'\n(Did you mean --config?)"],
    [['explain', '--config', 'x.yaml', 'GET /task'], "required option '-u, --user <ID>' not specified"],
    [['policy', '--config', 'x.yaml'], "missing required argument 'ACTION'"],
    [
      ['suggest', '--format', 'jsn'],
      "option '--format <FORMAT>' argument 'jsn' is invalid. Allowed choices are text, json.",
    ],
  ]
  for (const [args, problem] of cases)
    t.same(
      await runInProcess(args),
      { code: 2, out: '', err: `error: ${problem}\n(--help prints the usage)\n` },
      args.join(' '),
    )
})

t.test('an unknown command in help is refused with the list of commands', async (t) => {
  t.match(await runInProcess(['help', 'chekc']), { code: 2, out: '', err: /^ {2}check \[options\]/m })
})

t.test('arguments that may be secrets are not printed', async (t) => {
  for (const args of [
    ['check', '--config', 'x.yaml', 'hunter2!'],
    ['check', '--config', 'x.yaml', '--hunter2!'],
    ['check', '--config', 'x.yaml', '--format', 'hunter2!'],
    ['check', '--config', 'x.yaml', '--password=hunter2'],
    ['hunter2!'],
  ]) {
    const { code, err } = await runInProcess(args)
    t.match({ code, err }, { code: 2, err: '…' }, args.join(' '))
    t.notMatch(err, 'hunter2', args.join(' '))
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
  t.match(await runInProcess(['--config', 'nosuch.yaml', 'check']), { code: 1, err: /nosuch\.yaml/ })
})

t.test('help and version are printed whatever the other arguments are', async (t) => {
  const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))
  for (const args of [['version'], ['--version'], ['check', '-v']])
    t.same(await runInProcess(args), { code: 0, out: `${version}\n`, err: '' })
  for (const args of [['help'], ['--help'], ['--config', 'x.yaml', '-h']])
    t.match(await runInProcess(args), {
      code: 0,
      out: /^Usage: engine-gateway \[options\] \[command\]/,
      err: '',
    })
  for (const args of [
    ['help', 'check'],
    ['check', '-h'],
    ['check', '--help', '--config', 'x.yaml'],
  ])
    t.match(await runInProcess(args), { code: 0, out: /^Usage: engine-gateway check/, err: '' })
  t.match(await runInProcess(['start', '-h']), { out: /^Usage: engine-gateway start \[options\]\n/ })
})

t.test('an option has the same short form in every command that has it', (t) => {
  const seen = new Map<string, string>()
  for (const command of SHOWN_COMMANDS)
    for (const { long = '', short = '', required } of command.options) {
      // An option with a value in one command must not be a flag in another.
      const shape = `${required ? 'value' : 'flag'} ${short}`
      t.equal(seen.get(long) ?? shape, shape, `${command.name()} ${long}`)
      seen.set(long, shape)
    }
  const shorts = [...seen.values()].map((shape) => shape.split(' ')[1]).filter((short) => short !== '')
  t.equal(new Set(shorts).size, shorts.length, 'and no two have one letter')
  t.end()
})

t.test('the help of every command shows its examples, exit codes, options and arguments', async (t) => {
  for (const command of SHOWN_COMMANDS.filter((one) => one.name() !== 'version')) {
    const name = command.name()
    const { out } = await runInProcess([name, '--help'])
    t.match(out, new RegExp(`\n\nExamples:\n.*engine-gateway ${name}`), name)
    t.match(out, /\n\nExit codes:\n {2}0 {2}\S(.|\n)*\n {2}2 {2}\S/, name)
    for (const { flags, description } of command.options) {
      t.ok(out.includes(`  ${flags} `), `${name} ${flags}`)
      t.not(description, '', `${name} ${flags}`)
    }
    for (const argument of command.registeredArguments)
      t.ok(out.includes(`\n  ${argument.name()} `), `${name} ${argument.name()}`)
    t.same(
      out.split('\n').filter((line) => line.length > 110),
      [],
      `${name} fits a terminal`,
    )
  }
})
