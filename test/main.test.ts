import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { tourOf } from '../src/cli/demo.ts'
import { freePort } from './free-port.ts'

const MAIN = new URL('../src/main.ts', import.meta.url).pathname

async function run(
  ...args: readonly string[]
): Promise<{ readonly code: number | null; readonly err: string }> {
  const child = spawn(process.execPath, [MAIN, ...args], { stdio: ['ignore', 'ignore', 'pipe'] })
  let err = ''
  child.stderr.on('data', (chunk: Buffer) => (err += chunk.toString()))
  await once(child, 'close')
  return { code: child.exitCode, err }
}

t.test('without a configuration the gateway does not start, and says what it needs', async (t) => {
  const { code, err } = await run()
  t.equal(code, 2)
  t.match(err, /--config FILE/)
})

t.test('a wrong configuration stops it before it listens, and every problem is named', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'engine-gateway-main-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  writeFileSync(
    join(folder, 'gateway.yaml'),
    'version: 1\nengines: { default: { nodes: ["http://e/engine-rest"] } }\n' +
      'identity: { source: file, file: nosuch.yaml }\nauthorization: { records: { source: file, file: broken.yaml } }\n',
  )
  writeFileSync(join(folder, 'broken.yaml'), 'authorizations: [{ type: 7 }]\n')
  const { code, err } = await run('--config', join(folder, 'gateway.yaml'))
  t.equal(code, 1)
  t.match(err, /nosuch\.yaml/)
  t.match(err, /authorizations\[0\]\.type/)
})

t.test('the demo listens, its tour holds, and it ends on SIGTERM', async (t) => {
  const [port, adminPort] = [await freePort(), await freePort()]
  const settings = [`PORT=${port}`, `ADMIN_PORT=${adminPort}`]
  const child = spawn('env', [...settings, process.execPath, MAIN, 'demo'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  t.teardown(() => child.kill('SIGKILL'))
  let said = ''
  child.stdout.on('data', (chunk: Buffer) => (said += chunk.toString()))
  while (!said.includes('# 7.')) await once(child.stdout, 'data')
  const origins = { base: `http://127.0.0.1:${port}/engine-rest`, admin: `http://127.0.0.1:${adminPort}` }
  t.equal(said.trim(), tourOf(origins).trim())
  const lines = said
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#') && !/^(engine-gateway|Users)/.test(line))
  const shell = spawn('sh', [], { stdio: ['pipe', 'pipe', 'inherit'] })
  let shown = ''
  shell.stdout.on('data', (chunk: Buffer) => (shown += chunk.toString()))
  shell.stdin.end(lines.join('\necho\n'))
  await once(shell, 'close')
  t.match(shown, /401 Unauthorized/)
  t.match(shown, /'CREATE_INSTANCE' permission on resource 'discount' of type 'DecisionDefinition'/)
  t.match(shown, /cache-status: engine-gateway; hit/)
  t.match(shown, /x-gateway-error: GW_HAZARD/)
  t.match(shown, /\{"count":9\}[\s\S]*\{"count":3\}/)
  t.match(shown, /"taskState"/)
  t.match(shown, /gateway_refusals_total/)
  child.kill('SIGTERM')
  await once(child, 'exit')
  t.equal(child.exitCode, 0)
})
