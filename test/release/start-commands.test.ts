import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { totalmem } from 'node:os'
import { join } from 'node:path'
import t from 'tap'

const textOf = (file: string) => readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8')
const FLAGS = [
  '--max-semi-space-size=8',
  '--no-allocation-site-pretenuring',
  '--no-separate-gc-phases',
  '--heap-growing-percent=150',
]
const ONE_CORE = '--single-threaded-gc'

t.test('every start command passes the flags of V8', async (t) => {
  const { scripts }: { scripts: { start: string } } = JSON.parse(textOf('package.json'))
  t.equal(scripts.start, `exec node ${FLAGS.join(' ')} src/main.ts`)
  const entry = /^ENTRYPOINT (.*)$/m.exec(textOf('Dockerfile'))?.[1] ?? '[]'
  t.match(JSON.parse(entry), ['node', ...FLAGS, 'dist/main.js'])
  t.match(textOf('examples/systemd/engine-gateway.service'), `node ${FLAGS.join(' ')} dist/main.js`)
  t.match(textOf('docs/capacity.md'), `\`${ONE_CORE}\``)
  t.match(textOf('README.md'), `\`node ${FLAGS.join(' ')} dist/main.js --config gateway.yaml\``)
})

/** Returns the heap limit of Node.js in MiB if it is started by `env` with these arguments. */
function limitOf(...args: readonly string[]): number {
  const script = 'console.log(v8.getHeapStatistics().heap_size_limit)'
  const { stdout } = spawnSync('env', [...args, process.execPath, '--max-semi-space-size=8', '-e', script])
  return Number(stdout.toString()) / 1024 ** 2
}

t.test('the image limits the heap to half of its memory, unless another limit is given', async (t) => {
  const [, option = ''] = /^ENV NODE_OPTIONS=(\S+)$/m.exec(textOf('Dockerfile')) ?? []
  const memory = Math.min(process.constrainedMemory() || Infinity, totalmem()) / 1024 ** 2
  const young = 3 * 8
  t.ok(Math.abs(limitOf(`NODE_OPTIONS=${option}`) - young - memory / 2) < 2)
  t.equal(
    limitOf('NODE_OPTIONS=--max-old-space-size=200'),
    200 + young,
    'a value of the operator replaces it',
  )
  const entry = /^ENTRYPOINT (.*)$/m.exec(textOf('Dockerfile'))?.[1] ?? '[]'
  t.notMatch(entry, 'max-old-space-size', 'a flag of the command would override the value of the operator')
})

t.test('Node.js accepts the flags, and workers inherit them from the primary', async (t) => {
  const script = `import { fork } from 'node:child_process'
    if (process.send === undefined) fork(import.meta.filename, ['worker'])
    else { console.log(JSON.stringify(process.execArgv)); process.exit() }`
  const file = join(t.testdir({ 'workers.mjs': script }), 'workers.mjs')
  for (const flags of [FLAGS, [...FLAGS, ONE_CORE]]) {
    const { stdout } = spawnSync('env', ['-u', 'NODE_OPTIONS', process.execPath, ...flags, file])
    t.same(JSON.parse(stdout.toString()), flags)
  }
})

/** Returns the growth of the old heap in MiB under requests, of which 500 are in flight at each moment. About 30 MiB of it are permanent. */
function oldGrowth(isStopped: boolean): number {
  const script = `
    import { getHeapSpaceStatistics } from 'node:v8'
    const oldBytes = () => getHeapSpaceStatistics().find((space) => space.space_name === 'old_space').space_used_size
    const staying = Array.from({ length: 300000 }, (_, at) => ({ at, read: [at] }))
    const underWay = []
    function serve(at) {
      const request = { at, body: { text: String(at), read: [at, at] }, told: { at: [at] } }
      underWay[at % 500] = { request, answer: { request, headers: { 'x-request-id': at } } }
      return new Array(500).fill(at).length
    }
    let before = oldBytes()
    let grown = 0
    for (let at = 0; at < 400000; at += 1) {
      serve(at)
      if (at % 100 !== 0) continue
      const now = oldBytes()
      if (now > before) grown += now - before
      before = now
    }
    console.log(grown / 1024 ** 2, staying.length)`
  // On one thread, and without the modules that tap would load, the decisions of V8 are reproducible.
  const file = join(t.testdir({ 'serve.mjs': script }), 'serve.mjs')
  const flags = isStopped ? ['--no-allocation-site-pretenuring'] : []
  const { stdout } = spawnSync('env', [
    '-u',
    'NODE_OPTIONS',
    process.execPath,
    ...flags,
    '--single-threaded',
    file,
  ])
  return Number.parseFloat(stdout.toString())
}

t.test('without pretenuring, completed requests do not enter the old heap', async (t) => {
  const [stopped, usual] = [oldGrowth(true), oldGrowth(false)]
  t.ok(stopped < usual / 3, `${stopped} and ${usual} MiB`)
})
