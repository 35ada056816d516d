import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { setTimeout as wait } from 'node:timers/promises'
import { join } from 'node:path'
import type { Test } from 'tap'
import { until } from './cache-harness.ts'

/** Timeout for the browser: several times the duration on a loaded machine. */
export const BROWSER_PATIENCE_MS = 60_000

/** Timeout for the value of an expression. After it, the expression is evaluated again. */
const ANSWER_MS = 5000

const FLAGS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-dev-shm-usage',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--no-first-run',
]

interface Browsing {
  readonly browser: ChildProcess
  readonly profile: string
}

/** Starts a real browser at a page. The browser ends with the test. */
export async function browse(t: Pick<Test, 'teardown'>, url: string): Promise<Browsing> {
  const profile = await mkdtemp(join(tmpdir(), 'chromium-'))
  // Without a debugging port, a headless browser exits when the first page is loaded.
  const flags = [...FLAGS, `--user-data-dir=${profile}`, '--remote-debugging-port=0']
  const browser = spawn('chromium', [...flags, url], { stdio: 'ignore', detached: true })
  const exited = once(browser, 'exit')
  t.teardown(async () => {
    // The browser is a group of processes, and all of them write to the profile.
    if (browser.pid !== undefined && browser.exitCode === null) process.kill(-browser.pid, 'SIGKILL')
    await exited
    await rm(profile, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 })
  })
  return { browser, profile }
}

type Json = Readonly<Record<string, unknown>>

/** A page that a test controls through the Chromium DevTools protocol. */
export interface OpenPage {
  /** Sends a command and resolves to its result. */
  readonly send: (method: string, params?: Json) => Promise<Json>
  /** Returns the value of an expression in the page. */
  readonly read: (expression: string) => Promise<unknown>
  /**
   * Waits until an expression is true.
   * @throws Error with the text of the page if it stays false
   */
  readonly wait: (expression: string) => Promise<void>
  /** Returns the parameters of all events with that name so far. */
  readonly events: (method: string) => readonly Json[]
}

/** Opens a browser at an empty page and enables its reports of events. */
export async function openPage(t: Pick<Test, 'teardown'>): Promise<OpenPage> {
  const { profile } = await browse(t, 'about:blank')
  const socket = new WebSocket(await debuggerOf(profile))
  t.teardown(() => socket.close())
  await once(socket, 'open')
  const answers = new Map<number, (message: Json) => void>()
  const events: Json[] = []
  socket.addEventListener('message', ({ data }: MessageEvent) => {
    const message: Json = JSON.parse(String(data))
    const answer = answers.get(Number(message['id']))
    if (answer === undefined) events.push(message)
    else answer(message)
  })
  const send: OpenPage['send'] = async (method, params = {}) => {
    const id = answers.size + 1
    const answer = new Promise<Json>((resolve) => {
      answers.set(id, resolve)
      socket.send(JSON.stringify({ id, method, params }))
    })
    const late: Json = { error: `no response within ${BROWSER_PATIENCE_MS} ms` }
    const { result, error } = await Promise.race([answer, wait(BROWSER_PATIENCE_MS, late, { ref: false })])
    if (error !== undefined) throw new Error(`${method}: ${JSON.stringify(error)}`)
    return Object(result)
  }
  const read: OpenPage['read'] = async (expression) => {
    const { result, exceptionDetails } = await send('Runtime.evaluate', {
      expression,
      returnByValue: true,
      awaitPromise: true,
    })
    if (exceptionDetails !== undefined) throw new Error(JSON.stringify(exceptionDetails))
    return Object(result).value
  }
  // A command to a page that is being left may get no response, or an error.
  const readSoon = (expression: string): Promise<unknown> =>
    Promise.race([read(expression).catch(() => null), wait(ANSWER_MS, null, { ref: false })])
  for (const domain of ['Page', 'Runtime', 'Network', 'Log', 'Performance']) await send(`${domain}.enable`)
  return {
    send,
    read,
    wait: async (expression) => {
      await until(async () => (await readSoon(expression)) === true, BROWSER_PATIENCE_MS).catch(
        async (cause: unknown) => {
          const shown = await readSoon('`${location.href}: ${document.body?.innerText.slice(0, 2000)}`')
          throw new Error(`Not true in the page: ${expression}\n${String(shown)}`, { cause })
        },
      )
    },
    events: (method) =>
      events.filter((event) => event['method'] === method).map(({ params }) => Object(params)),
  }
}

/** Returns the debugging address of the first page of a browser. */
async function debuggerOf(profile: string): Promise<string> {
  const found = { url: '' }
  await until(async () => {
    const text = await readFile(join(profile, 'DevToolsActivePort'), 'utf8').catch(() => '')
    const [port = ''] = text.split('\n')
    if (port === '') return false
    const pages: readonly { readonly type: string; readonly webSocketDebuggerUrl: string }[] = await fetch(
      `http://127.0.0.1:${port}/json/list`,
    )
      .then((response) => response.json())
      .catch(() => [])
    found.url = pages.find(({ type }) => type === 'page')?.webSocketDebuggerUrl ?? ''
    return found.url !== ''
  }, BROWSER_PATIENCE_MS)
  return found.url
}
