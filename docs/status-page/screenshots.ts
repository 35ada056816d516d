// Takes the pictures of docs/status-page.md: `node docs/status-page/screenshots.ts`. Needs chromium.
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { openRuntime } from '../../src/assembly/open-runtime.ts'
import { loadConfig } from '../../src/config/config.ts'
import { createLogger } from '../../src/log.ts'
import { startSandbox } from '../../sandbox/sandbox.ts'
import { start } from '../../src/server/start.ts'
import { openPage } from '../../test/support/chromium.ts'

const CONFIG = join(import.meta.dirname, '../../config')
const TOKEN = 'a-token-for-pictures'
/** A URL at which no server listens. */
const AWAY = 'http://127.0.0.1:9/engine-rest'

const ends: (() => unknown)[] = []
const page = await openPage({ teardown: (end: () => unknown) => void ends.push(end) })
const sandbox = await startSandbox()
const folder = await mkdtemp(join(tmpdir(), 'pictures-'))
const file = join(folder, 'gateway.yaml')
const settings = {
  version: 1,
  listen: { port: 0 },
  admin: { port: 0, token: TOKEN },
  engines: {
    default: { nodes: [sandbox.base, AWAY] },
    second: { nodes: [sandbox.base], authorization: authorizationOf('report') },
    third: { nodes: [AWAY] },
  },
  identity: { source: 'file', file: join(CONFIG, 'users.yaml') },
  authorization: authorizationOf('enforce'),
}
await writeFile(file, JSON.stringify(settings))
const log = createLogger({ level: 'error', destination: { write: () => undefined } })
const running = await start({ config: loadConfig(file), log, open: openRuntime, file })

await Promise.all([show(), visit()])
await running.drain()
await sandbox.close()
for (const end of ends) await end()
await rm(folder, { recursive: true })

function authorizationOf(mode: string) {
  return { mode, records: { source: 'file', file: join(CONFIG, 'authorizations.yaml') } }
}

/** Sends requests of two users. Meanwhile, the gateway reads a file that it refuses. */
async function visit(): Promise<void> {
  const paths = [
    '/task',
    '/task/count',
    '/decision-definition/key/discount/diagram',
    '/user',
    '/engine/third/task',
  ]
  for (let round = 0; round < 150; round += 1) {
    const user = round % 3 === 0 ? 'demo' : 'mary'
    const authorization = `Basic ${Buffer.from(`${user}:${user}`).toString('base64')}`
    for (const path of paths)
      await fetch(`${running.address}/engine-rest${path}`, { headers: { authorization } }).then((answer) =>
        answer.text(),
      )
    await refused(authorization)
    if (round === 40) await writeFile(file, `${JSON.stringify({ ...settings, listen: { port: 1 } })}\n`)
    await wait(60)
  }
}

/** A request that mary may not send. */
async function refused(authorization: string): Promise<void> {
  const headers = { authorization, 'content-type': 'application/json' }
  const body = JSON.stringify({ id: 'a', name: 'a', type: 'WORKFLOW' })
  for (const path of ['/group/create', '/engine/second/group/create']) {
    const response = await fetch(`${running.address}/engine-rest${path}`, { method: 'POST', headers, body })
    await response.text()
  }
}

async function show(): Promise<void> {
  await wait(7000)
  const authorization = `Basic ${Buffer.from(`:${TOKEN}`).toString('base64')}`
  await page.send('Network.setExtraHTTPHeaders', { headers: { authorization } })
  await page.send('Page.navigate', { url: `${running.adminAddress}/status` })
  await page.wait(`document.readyState === 'complete' && document.querySelectorAll('#engines tr').length > 3`)
  await page.read(`(() => {
    document.getElementById('user').value = 'mary'
    document.getElementById('request').value = 'POST /deployment/create'
    document.getElementById('ask').requestSubmit()
  })()`)
  await page.wait(`document.getElementById('decision').textContent !== ''`)
  await wait(6000)
  for (const [device, width] of [
    ['desktop', 1200],
    ['phone', 390],
  ] as const)
    for (const scheme of ['light', 'dark']) await takePicture({ device, width, scheme })
}

async function takePicture(of: { readonly device: string; readonly width: number; readonly scheme: string }) {
  const { device, width, scheme } = of
  const metrics = { width, height: 800, deviceScaleFactor: 1, mobile: device === 'phone' }
  await page.send('Emulation.setDeviceMetricsOverride', metrics)
  await page.send('Emulation.setEmulatedMedia', {
    features: [{ name: 'prefers-color-scheme', value: scheme }],
  })
  const { data } = await page.send('Page.captureScreenshot', { format: 'png', captureBeyondViewport: true })
  await writeFile(join(import.meta.dirname, `${device}-${scheme}.png`), Buffer.from(String(data), 'base64'))
}
