import t from 'tap'
import { startEventsOf, type StartEvent } from '../../../../src/policy/authz/entities/start-events.ts'
import { Random } from '../../../differential/random.ts'
import { cpuMs } from '../../../support/cpu-time.ts'
import { seedsOf } from '../../../support/requirements.ts'

/** Reads the start events of the process `p`. */
const read = (xml: string) => startEventsOf(xml, 'p')

const model = (start: string, beside = ''): string =>
  `<definitions xmlns="bpmn">${beside}<process id="p">${start}<endEvent id="end"/></process></definitions>`

t.test('a start event is read with the event that it waits for', async (t) => {
  const messages = '<message id="m" name="order placed"/><signal name="stop" id="s"/>'
  const cases = [
    ['<startEvent id="a"><messageEventDefinition messageRef="m"/></startEvent>', 'message', 'order placed'],
    ['<startEvent id="a"><signalEventDefinition id="x" signalRef="tns:s"/></startEvent>', 'signal', 'stop'],
    [
      '<startEvent id="a"><conditionalEventDefinition><condition/></conditionalEventDefinition></startEvent>',
      'conditional',
      null,
    ],
    [
      '<b:startEvent name="a > b" id="a"><b:signalEventDefinition signalRef=\'s\'/></b:startEvent>',
      'signal',
      'stop',
    ],
  ] as const
  for (const [start, type, name] of cases)
    t.same(await read(model(start, messages)), [{ id: 'a', type, name }], start)
})

t.test('a start event that waits for no event is not listed', async (t) => {
  t.same(await read(model('<startEvent id="a"/>')), [])
  t.same(await read(model('<startEvent id="a"><timerEventDefinition/></startEvent>')), [])
})

t.test('a name that is an expression may be any name', async (t) => {
  const signal = '<signal id="s" name="stop-${region}"/>'
  const start = '<startEvent id="a"><signalEventDefinition signalRef="s"/></startEvent>'
  t.same(await read(model(start, signal)), [{ id: 'a', type: 'signal', name: null }])
})

t.test('invalid XML and a model with a DOCTYPE cannot be read', async (t) => {
  const start = '<startEvent id="a"><signalEventDefinition signalRef="s"/></startEvent>'
  const whole = model(start, '<signal id="s" name="x"/>')
  t.same(await read(whole), [{ id: 'a', type: 'signal', name: 'x' }])
  const cases = [
    ['an entity that nobody has defined', model(start, '<signal id="s" name="&constructor; &gt;"/>')],
    ['a DOCTYPE', `<!DOCTYPE definitions>${whole}`],
    ['one that defines an entity', `<!DOCTYPE x [<!ENTITY e "x">]>${model(start, '<signal name="&e;"/>')}`],
    ['a character that may not be', model(start, '<signal id="s" name="\u0000"/>')],
    ['two roots', whole + whole],
    ['an attribute twice', model('<startEvent id="a" id="b"/>')],
    ['no XML', 'startEvent'],
    ['nothing', ''],
    ['UTF-16 that was read as UTF-8', Buffer.from(`\ufeff${whole}`, 'utf16le').toString()],
    ['an id that was not UTF-8', model('<startEvent id="\ufffd"><signalEventDefinition/></startEvent>')],
    ['no such process', whole.replace('"p"', '"q"')],
    ['very deep', model('<a>'.repeat(2000) + '</a>'.repeat(2000))],
  ] as const
  for (const [claim, xml] of cases) t.equal(await read(xml), null, claim)
  for (let end = 0; end < whole.length; end += 1) t.equal(await read(whole.slice(0, end)), null, `${end}`)
})

const startOn = (ref: string) => `<startEvent id="a"><signalEventDefinition signalRef="${ref}"/></startEvent>`

t.test('a name or a reference that was not UTF-8 may be any name', async (t) => {
  const any = [{ id: 'a', type: 'signal', name: null }]
  t.same(await read(model(startOn('s'), '<signal id="s" name="f\ufffdr"/>')), any)
  t.same(await read(model(startOn('s\ufffd'), '<signal id="s\ufffd" name="a"/>')), any)
  t.same(await read(model(startOn('s'), '<signal id="s"/>')), any, 'no name')
  t.same(await read(model(startOn('other'), '<signal id="s" name="a"/>')), any, 'no such signal')
})

t.test('text and instructions are not read as tags, in a time independent of their number', async (t) => {
  const start = '<startEvent id="a"><signalEventDefinition/></startEvent>'
  const event = { id: 'a', type: 'signal', name: null }
  for (const [open, close] of [
    ['<documentation><![CDATA[', ']]></documentation>'],
    ['<?x ', '?>'],
  ] as const) {
    t.same(await read(model(`${open}${start.replace('"a"', '"z"')}<!-- ${close}${start}`)), [event], open)
    for (const tag of ['<startEvent>', '<message "', '<!--']) {
      const startedAt = cpuMs()
      t.same(await read(model(`${open}${tag.repeat(60_000)}${close}${start}`)), [event])
      const ms = cpuMs() - startedAt
      t.ok(ms < 1000, `${tag}: ${Math.round(ms)} ms`)
    }
  }
})

t.test('comments are ignored, and entities are decoded', async (t) => {
  const signal = '<!-- <signal id="s" name="old"/> --><signal id="s" name="a &amp; b &#x21;"/>'
  const start =
    '<!-- <startEvent id="z"/> --><startEvent id="a"><signalEventDefinition signalRef="s"/></startEvent>'
  t.same(await read(model(start, signal)), [{ id: 'a', type: 'signal', name: 'a & b !' }])
})

const filled = (text: string) => text.repeat(Math.ceil((10 * 1024 ** 2) / text.length))

t.test('10 MB of any content takes bounded time and does not block other work', async (t) => {
  const start = '<startEvent id="a"><signalEventDefinition/></startEvent>'
  const attributes = Array.from({ length: 900_000 }, (_, at) => `a${at}=""`).join(' ')
  const cases = [
    ['elements', model(start + filled('<a/>')), true],
    ['comments', model(`${start}<!--${filled('<startEvent>')}-->`), true],
    ['brackets', model(`${start}<a><![CDATA[${filled(']]')}]]></a>`), true],
    ['references', model(`${start}<a b="${filled('&lt;')}"/>`), true],
    ['attributes', model(`${start}<a ${attributes}/>`), true],
    ['open elements', model(start + filled('<a>')), false],
    ['open quotes', model(start + filled('<a b="')), false],
    ['a DOCTYPE', `<!DOCTYPE a [${filled('<!ENTITY a "b">')}]>${model(start)}`, false],
  ] as const
  for (const [claim, xml, isRead] of cases) {
    let turns = 0
    const counting = setInterval(() => (turns += 1), 1)
    const startedAt = cpuMs()
    t.same(await read(xml), isRead ? [{ id: 'a', type: 'signal', name: null }] : null, claim)
    clearInterval(counting)
    const ms = cpuMs() - startedAt
    t.ok(ms < 20_000, `${claim}: ${Math.round(ms)} ms`)
    if (isRead) t.ok(turns > 5, `${claim}: ${turns} other turns`)
  }
})

t.test('each process of generated models has its own start events', async (t) => {
  for (const seed of seedsOf(500)) {
    const { xml, expected } = generatedModel(new Random(seed))
    for (const [processId, events] of expected)
      t.same(await startEventsOf(xml, processId), events, `seed ${seed}`)
  }
})

/** Generates a model in one of many notations, with the start events of its processes. */
function generatedModel(random: Random) {
  const prefix = random.pick(['', '', 'bpmn:', 'b-1.x:', 'ü:'])
  const blank = () => random.pick(['', '', ' ', '\n\t', '\r\n'])
  const decoy = () => {
    const text = `<${prefix}startEvent id="z"><${prefix}signalEventDefinition/></${prefix}startEvent>`
    return random.pick([
      '',
      '',
      `<!-- ${text} -->`,
      `<?x ${text}?>`,
      `<${prefix}documentation><![CDATA[${text}]]></${prefix}documentation>`,
      `<${prefix}extensionElements>${text}</${prefix}extensionElements>`,
    ])
  }
  const escaped = (text: string, quote: string) =>
    Array.from(text)
      .map((char) => {
        const code = char.codePointAt(0) ?? 0
        if (random.chance(0.2)) return random.pick([`&#${code};`, `&#x${code.toString(16)};`])
        return { '<': '&lt;', '&': '&amp;', [quote]: quote === '"' ? '&quot;' : '&apos;' }[char] ?? char
      })
      .join('')
  const element = (name: string, attributes: Readonly<Record<string, string>>, content = '') => {
    const written = Object.entries({ ...attributes, 'x:id': 'other', [`${name}-id`]: '<a id="b">' })
      .sort(() => random.next() - 0.5)
      .map(([key, value]) => {
        const quote = random.pick(['"', "'"])
        return ` ${blank()}${key}${blank()}=${blank()}${quote}${escaped(value, quote)}${quote}`
      })
    const tag = `${prefix}${name}${written.join('')}${blank()}`
    return content === '' && random.chance(0.5)
      ? `<${tag}/>`
      : `<${tag}>${content}</${prefix}${name}${blank()}>`
  }
  const names = ['go', 'a > b', 'it\'s "so" & <so>', 'für 😀', ' blanks ', 'order-${id}', '#{any}'] as const
  const kinds = ['message', 'signal'] as const
  const named = kinds.flatMap((type) => names.map((name, at) => ({ type, id: `${type}-${at}`, name })))
  let count = 0
  const startOf = (events: StartEvent[]) => {
    const id = `start.${(count += 1)}`
    const kind = random.pick(['none', 'timer', 'conditional', 'named', 'named', 'dangling'])
    if (kind === 'none') return element('startEvent', { id }, decoy())
    if (kind === 'timer') return element('startEvent', { id }, element('timerEventDefinition', {}, decoy()))
    const { type, id: ref, name } = random.pick(named)
    if (kind !== 'named') {
      const unknown = kind === 'conditional' ? 'conditional' : type
      events.push({ id, type: unknown, name: null })
      const attributes = kind === 'conditional' ? {} : { [`${type}Ref`]: 'nobody' }
      return element('startEvent', { id }, decoy() + element(`${unknown}EventDefinition`, attributes))
    }
    events.push({ id, type, name: /[$#]\{/.test(name) ? null : name })
    const reference = random.pick([ref, `tns:${ref}`, ` ${ref} `])
    const definition = element(`${type}EventDefinition`, { [`${type}Ref`]: reference, id: 'd' }, decoy())
    return element('startEvent', { id, name: '<startEvent id="z">' }, decoy() + definition + decoy())
  }
  const subProcess = (depth: number): string => {
    const inner = startOf([]) + (depth > 0 ? subProcess(depth - 1) : '')
    return element(
      random.pick(['subProcess', 'transaction']),
      { triggeredByEvent: random.pick(['true', 'false']) },
      inner,
    )
  }
  const expected = new Map<string, readonly StartEvent[]>()
  const parts = named.map(({ type, id, name }) => element(type, { id, name }))
  for (const processId of ['p', 'q', 'r'].slice(0, 1 + random.below(3))) {
    const events: StartEvent[] = []
    const content = Array.from({ length: random.below(5) }, () =>
      random.chance(0.3) ? subProcess(random.below(3)) : decoy() + startOf(events),
    )
    parts.push(element('process', { id: processId, isExecutable: 'true' }, content.join(blank())))
    expected.set(processId, events)
  }
  const shuffled = parts.sort(() => random.next() - 0.5).join(blank())
  const declaration = random.pick([
    '',
    '<?xml version="1.0"?>',
    "<?xml version='1.0' encoding='ISO-8859-1'?>",
  ])
  const mark = random.pick(['', '\ufeff'])
  const root = element('definitions', { targetNamespace: 'urn:a' }, decoy() + shuffled)
  return { xml: `${mark}${declaration}${root}${blank()}`, expected }
}
