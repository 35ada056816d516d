import t, { type Test } from 'tap'
import { readByEngine } from '../../support/engine-reading.ts'
import { BASE, openGateway, type Seen } from '../../support/open-gateway.ts'
import { head, type RawAnswer, speak } from '../../support/raw.ts'
import { type Decided, watchPermits } from '../../support/watched.ts'
import { seedsOf } from '../../support/requirements.ts'

const decided: Decided[] = []
const gateway = await openGateway(t, {
  listen: true,
  engine: (_request, response) => response.setHeader('content-type', 'application/json').end('{}'),
  settings: { validation: { mode: 'off' }, cache: { memory: { maxBytes: '0B' } } },
  wrap: watchPermits(decided),
})

const SEEDS = 500

const VALID = [
  '/task',
  '/task/count',
  '/task/t-1.a/variables/v',
  '/user/demo/profile',
  '/version',
  '/decision-definition/key/discount/diagram',
  '/process-definition/key/k/tenant-id/t-1/xml',
  '/engine/default/task/x',
  '/engine/second/user/demo/profile',
]
// Pieces that two parsers of a path have read differently in the past.
const NASTY = [
  '.. . %2e%2e %2E ..; ; ;x=1 %3B %2F %2f %5C \\ // /./ /../ / % %2 %zz %252F %2525 %00 %0a %7f %c0%ae %ff',
  '# #/x %3F %23 é engine engine/second /engine/second TASK " < | ^ {id} %%32%66 %74 %70rofile',
]
  .flatMap((words) => words.split(' '))
  .concat(' ')
// Characters of a segment like any other, and pieces that only look like something else.
const HARMLESS =
  "%C3%A9 %E2%82%AC + * @ : = & ' ~ %20 %25zz %25 , ( count engine ?a=b ?a=b;c=/../d :id %41".split(' ')

/** Returns a generator whose numbers are the same in every run. A failure names its seed. */
function randomOf(seed: number): (below: number) => number {
  let state = Math.imul(seed, 0x9e3779b1)
  return (below) => {
    state = Math.trunc(state + 0x6d2b79f5)
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below
  }
}

/** Returns a valid path with one or two pieces inserted. */
function targetOf(seed: number): string {
  const random = randomOf(seed)
  const pieces = random(2) === 0 ? HARMLESS : NASTY
  let target = BASE + (VALID[random(VALID.length)] ?? '')
  for (let count = random(2); count >= 0; count -= 1) {
    const at = BASE.length + random(target.length - BASE.length + 1)
    const piece = pieces[random(pieces.length)] ?? ''
    // In the middle or at the beginning of a segment.
    const cut = random(2) === 0 ? at : target.indexOf('/', at) + 1 || at
    target = target.slice(0, cut) + piece + target.slice(cut + random(2))
  }
  return target
}

interface Outcome {
  readonly target: string
  readonly answer: RawAnswer | undefined
  readonly seen: readonly Seen[]
  readonly decision: Decided | undefined
}

async function outcomeOf(seed: number): Promise<Outcome> {
  const target = targetOf(seed)
  const before = gateway.engine.requests
  decided.length = 0
  const [answer] = await speak(gateway.origin, Buffer.from(head(`GET ${target}`), 'utf8'))
  return { target, answer, seen: gateway.engine.seen.slice(before), decision: decided[0] }
}

t.test('a target is refused, or means the same to the gateway, its decision and the engine', async (t) => {
  let forwarded = 0
  for (const seed of seedsOf(SEEDS)) {
    const outcome = await outcomeOf(seed)
    if (outcome.seen.length > 0) {
      forwarded += 1
      checkForwarded(t, outcome)
    } else checkRefused(t, outcome)
  }
  t.ok(forwarded > SEEDS / 10, `${forwarded} of ${SEEDS} were forwarded`)
})

function checkRefused(t: Test, { target, answer }: Outcome): void {
  // The gateway itself returns the list of engines.
  const isOwn = readByEngine(target)[0]?.template === '/engine'
  const { status = 0 } = answer ?? {}
  if ((status < 400 || status >= 500) && !(isOwn && status === 200)) t.fail(`${target}: ${status}`)
}

function checkForwarded(t: Test, { target, seen, decision }: Outcome): void {
  const [{ url } = { url: '' }] = seen
  const [sent] = readByEngine(url)
  // Engines and Node ignore additional spaces between the target and the version.
  const readings = [...readByEngine(target.trimEnd()), decision]
  t.same([seen.length, readings], [1, [sent, sent]], `${target} as ${url}`)
  // The gateway encodes the path again, so that no other parser can read it differently.
  t.match(url.split('?')[0], /^(\/([\w.~!'()*-]|%[0-9A-F]{2})+)+$/, target)
}

t.test('a percent sign in a query string that does not begin an escape is encoded', async (t) => {
  const { ask } = await openGateway(t, { engine: (_request, response) => response.end('[]') })
  for (const [sent, forwarded] of [
    ['nameLike=%Rev%', 'nameLike=%25Rev%25'],
    ['nameLike=100%&name=%41', 'nameLike=100%25&name=%41'],
    ['name=%zz%2', 'name=%25zz%252'],
    ['name=%%41', 'name=%25%41'],
  ] as const) {
    const { status, forwarded: seen } = await ask('demo', `GET /process-definition?${sent}`)
    t.equal(status, 200, sent)
    t.match(seen.at(-1)?.url, `?${forwarded}`)
  }
})
