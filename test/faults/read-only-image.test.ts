import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import t, { type Test } from 'tap'
import { buildImage, commandIn, CONFIG_FOLDER, type Image } from './read-only-image.ts'

const FILE = `/${CONFIG_FOLDER}/gateway.yaml`

/** Without the permission to mount, the root file system cannot be read-only. */
const skip =
  spawnSync('unshare', ['--mount', '--pid', '--fork', 'mount', '-t', 'tmpfs', 'tmpfs', '/mnt']).status ===
    0 && process.getuid?.() === 0
    ? false
    : 'a file system cannot be mounted here'

function configure({ root }: Image, settings: Readonly<Record<string, unknown>>): void {
  const config = {
    version: 1,
    listen: { host: '127.0.0.1', port: 0 },
    admin: { host: '127.0.0.1', port: 0 },
    engines: { default: { nodes: ['http://127.0.0.1:9/engine-rest'] } },
    health: { probe: false },
    identity: { source: 'file', file: '/app/config/users.yaml' },
    authorization: { records: { source: 'file', file: '/app/config/authorizations.yaml' } },
    ...settings,
  }
  writeFileSync(join(root, CONFIG_FOLDER, 'gateway.yaml'), JSON.stringify(config))
}

function run(image: Image, ...command: readonly string[]) {
  const [program = '', ...args] = commandIn(image, command)
  const { status, stdout, stderr } = spawnSync(program, args, { encoding: 'utf8' })
  return { status, stdout, stderr }
}

/** Starts the entry point of the image and resolves when it listens. */
async function start(t: Test, image: Image) {
  const [program = '', ...args] = commandIn(image, image.entrypoint)
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  t.teardown(() => child.kill('SIGKILL'))
  const lines: string[] = []
  const ended = once(child, 'close')
  const listening = new Promise<readonly string[]>((resolve, reject) => {
    void ended.then(() => reject(new Error(`it has ended: ${lines.join('\n')}`)))
    createInterface(child.stdout).on('line', (line) => {
      lines.push(line)
      const found = /"address":"([^"]+)","admin":"([^"]+)".*"listening"/.exec(line)
      if (found !== null) resolve(found)
    })
  })
  const [, address = '', admin = ''] = await listening
  // The process id, outside the namespace, of process 1 of the image.
  const children = readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8')
  const pid = Number(children.trim().split(' ')[0])
  return {
    address,
    admin,
    pid,
    end: async () => {
      process.kill(pid, 'SIGTERM')
      await ended
      return { code: child.exitCode, said: lines.join('\n') }
    },
  }
}

t.test('the image with a read-only file system', { skip }, async (t) => {
  const image = buildImage(t.testdir({}))
  const [uid] = image.user.split(':')

  await t.test('the image runs as a numeric user other than root and can write nothing', async (t) => {
    t.match(image.user, /^[1-9]\d*:[1-9]\d*$/)
    const values = readFileSync(new URL('../../helm/engine-gateway/values.yaml', import.meta.url), 'utf8')
    t.match(values, `runAsUser: ${uid}\n`)
    const places = '/tmp/x /app/x /etc/engine-gateway/x /x'
    const script = `id -u; for file in ${places}; do (: > $file) 2>/dev/null && echo $file; done; true`
    t.same(run(image, 'sh', '-c', script), { status: 0, stdout: `${uid}\n`, stderr: '' }, 'wrote nothing')
  })

  await t.test('the image checks whether a configuration is valid', async (t) => {
    configure(image, {})
    t.match(run(image, 'engine-gateway', 'check', '--config', FILE), {
      status: 0,
      stdout: `${FILE} is good\n`,
    })
    configure(image, { engines: {} })
    t.match(run(image, 'engine-gateway', 'check', '--config', FILE), { status: 1, stderr: /engines/ })
  })

  for (const workers of [1, 2])
    await t.test(`the image serves requests and drains with ${workers} workers`, async (t) => {
      configure(image, { workers })
      const { address, admin, pid, end } = await start(t, image)
      const status = readFileSync(`/proc/${pid}/status`, 'utf8')
      t.match(status, new RegExp(`^Uid:\\t${uid}\\t${uid}\\t${uid}\\t${uid}$`, 'm'))
      t.match(status, /^CapEff:\t0+$/m)
      t.match(status, /^CapBnd:\t0+$/m)
      t.match(status, /^NoNewPrivs:\t1$/m)
      t.match(status, /^NSpid:.*\t1$/m)
      t.equal((await fetch(`${admin}/livez`)).status, 200)
      t.equal((await fetch(`${address}/engine-rest/engine`)).status, 401)
      const authorization = `Basic ${Buffer.from('demo:demo').toString('base64')}`
      t.equal((await fetch(`${address}/engine-rest/engine`, { headers: { authorization } })).status, 200)
      const { code, said } = await end()
      t.equal(code, 0)
      t.match(said, /"drain ended"/)
    })
})
