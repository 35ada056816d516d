import t from 'tap'
import { startEventsOf } from '../../../../src/policy/authz/entities/start-events.ts'

const model = (start: string, beside = ''): string =>
  `<definitions xmlns="bpmn">${beside}<process id="p">${start}<endEvent id="end"/></process></definitions>`

t.test('a start event is known by what it waits for', (t) => {
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
    t.same(startEventsOf(model(start, messages)), [{ id: 'a', type, name }], start)
  t.end()
})

t.test('a start event that waits for nothing is none of them', (t) => {
  t.same(startEventsOf(model('<startEvent id="a"/>')), [])
  t.same(startEventsOf(model('<startEvent id="a"><timerEventDefinition/></startEvent>')), [])
  t.end()
})

t.test('a name that is an expression may be any', (t) => {
  const signal = '<signal id="s" name="stop-${region}"/>'
  const start = '<startEvent id="a"><signalEventDefinition signalRef="s"/></startEvent>'
  t.same(startEventsOf(model(start, signal)), [{ id: 'a', type: 'signal', name: null }])
  t.end()
})

t.test('an entity that no XML knows stays as it is, whatever every object has', (t) => {
  const signal = '<signal id="s" name="&constructor; &toString; &gt;"/>'
  const start = '<startEvent id="a"><signalEventDefinition signalRef="s"/></startEvent>'
  t.same(startEventsOf(model(start, signal)), [
    { id: 'a', type: 'signal', name: '&constructor; &toString; >' },
  ])
  t.end()
})

t.test('what is text or an instruction is no tag, and however much of it there is takes no longer', (t) => {
  const start = '<startEvent id="a"><signalEventDefinition/></startEvent>'
  const event = { id: 'a', type: 'signal', name: null }
  for (const [open, close] of [
    ['<documentation><![CDATA[', ']]></documentation>'],
    ['<?x ', '?>'],
  ] as const) {
    t.same(startEventsOf(model(`${open}${start.replace('"a"', '"z"')}<!-- ${close}${start}`)), [event], open)
    for (const tag of ['<startEvent>', '<message "', '<!--']) {
      const startedAt = performance.now()
      t.same(startEventsOf(model(`${open}${tag.repeat(60_000)}${close}${start}`)), [event])
      const ms = performance.now() - startedAt
      t.ok(ms < 1000, `${tag}: ${Math.round(ms)} ms`)
    }
  }
  t.end()
})

t.test('what is commented out does not count, and entities are read', (t) => {
  const signal = '<!-- <signal id="s" name="old"/> --><signal id="s" name="a &amp; b &#x21;"/>'
  const start =
    '<!-- <startEvent id="z"/> --><startEvent id="a"><signalEventDefinition signalRef="s"/></startEvent>'
  t.same(startEventsOf(model(start, signal)), [{ id: 'a', type: 'signal', name: 'a & b !' }])
  t.end()
})
