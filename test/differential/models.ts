/** The processes, decisions and the case that both worlds deploy. */

const NAMESPACES = [
  'xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL"',
  'xmlns:camunda="http://camunda.org/schema/1.0/bpmn"',
  'xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"',
  'targetNamespace="http://engine-gateway/test"',
].join(' ')

interface Model {
  readonly key: string
  readonly name?: string
  /** Elements of the process. */
  readonly body: string
  /** Elements outside the process: messages, signals, errors. */
  readonly before?: string
  readonly attributes?: string
}

function bpmn({ key, name = key, body, before = '', attributes = '' }: Model): string {
  return `<?xml version="1.0" encoding="UTF-8"?>
<definitions ${NAMESPACES}>${before}
<process id="${key}" name="${name}" isExecutable="true" camunda:historyTimeToLive="P30D" ${attributes}>${body}</process>
</definitions>`
}

const flow = (from: string, to: string): string =>
  `<sequenceFlow id="${from}-${to}" sourceRef="${from}" targetRef="${to}"/>`

/** Returns the elements of a process that consists of a start event, one element and an end event. */
const line = (element: string, id: string, start = '<startEvent id="start"/>'): string =>
  `${start}${element}<endEvent id="end"/>${flow('start', id)}${flow(id, 'end')}`

/** A task with forms, and with boundary events for an error and an escalation. It has no candidates. */
export const office = bpmn({
  key: 'office',
  before: `<error id="stopped" errorCode="stop"/><escalation id="raised" escalationCode="raise"/>`,
  body: `${line(
    '<userTask id="desk" name="At the desk" camunda:formKey="embedded:deployment:desk.html"/>',
    'desk',
    '<startEvent id="start" camunda:formKey="embedded:deployment:start.html"/>',
  )}
<boundaryEvent id="stops" attachedToRef="desk"><errorEventDefinition errorRef="stopped"/></boundaryEvent>
<endEvent id="endStopped"/>${flow('stops', 'endStopped')}
<boundaryEvent id="raises" attachedToRef="desk" cancelActivity="false"><escalationEventDefinition escalationRef="raised"/></boundaryEvent>
<endEvent id="endRaised"/>${flow('raises', 'endRaised')}`,
})

/** A process with a form of fields, and with a task that has candidates. */
export const review = bpmn({
  key: 'review',
  body: line(
    '<userTask id="read" name="Read it" camunda:candidateGroups="editors,readers" camunda:candidateUsers="ben"/>',
    'read',
    `<startEvent id="start"><extensionElements><camunda:formData>
<camunda:formField id="pages" label="Pages" type="long" defaultValue="1"/></camunda:formData></extensionElements></startEvent>`,
  ),
})

export const job = (key: string, expression: string): string =>
  bpmn({
    key,
    body: line(
      `<serviceTask id="send" camunda:asyncBefore="true" camunda:expression="${expression}">
<extensionElements><camunda:failedJobRetryTimeCycle>R1/PT5M</camunda:failedJobRetryTimeCycle></extensionElements></serviceTask>`,
      'send',
    ),
  })

export const timed = bpmn({
  key: 'timed',
  body: line(
    `<intermediateCatchEvent id="wait"><timerEventDefinition><timeDuration>P20D</timeDuration></timerEventDefinition></intermediateCatchEvent>`,
    'wait',
  ),
})

/** Returns a process with one external task. */
export const externalTask = (key: string, topic: string): string =>
  bpmn({
    key,
    body: line(
      `<serviceTask id="work" camunda:type="external" camunda:topic="${topic}" camunda:taskPriority="7"/>`,
      'work',
    ),
  })

export const external = externalTask('external', 'work')

export const waiter = (key: string, signal: string, message: string): string =>
  bpmn({
    key,
    before: `<signal id="${signal}" name="${signal}"/><message id="${message}" name="${message}"/>`,
    body: `<startEvent id="start"/><parallelGateway id="fork"/>
<intermediateCatchEvent id="signalled"><signalEventDefinition signalRef="${signal}"/></intermediateCatchEvent>
<intermediateCatchEvent id="messaged"><messageEventDefinition messageRef="${message}"/></intermediateCatchEvent>
<receiveTask id="received"/><parallelGateway id="join"/><endEvent id="end"/>${flow('start', 'fork')}
${flow('fork', 'signalled')}${flow('fork', 'messaged')}${flow('fork', 'received')}
${flow('signalled', 'join')}${flow('messaged', 'join')}${flow('received', 'join')}${flow('join', 'end')}`,
  })

export const startedBySignal = bpmn({
  key: 'bySignal',
  before: '<signal id="stop" name="stop"/>',
  body: line(
    '<userTask id="look"/>',
    'look',
    '<startEvent id="start"><signalEventDefinition signalRef="stop"/></startEvent>',
  ),
})

export const startedByMessage = bpmn({
  key: 'byMessage',
  before: '<message id="order" name="order"/>',
  body: line(
    '<userTask id="look"/>',
    'look',
    '<startEvent id="start"><messageEventDefinition messageRef="order"/></startEvent>',
  ),
})

export const startedByCondition = bpmn({
  key: 'byCondition',
  body: line(
    '<userTask id="look"/>',
    'look',
    `<startEvent id="start"><conditionalEventDefinition>
<condition xsi:type="tFormalExpression">\${amount &gt; 10}</condition></conditionalEventDefinition></startEvent>`,
  ),
})

export const caller = bpmn({
  key: 'caller',
  body: line(
    `<callActivity id="call" calledElement="office"><extensionElements>
<camunda:in businessKey="called-1"/></extensionElements></callActivity>`,
    'call',
  ),
})

export const moving = (version: number): string =>
  bpmn({
    key: 'moving',
    attributes: `camunda:versionTag="${version}"`,
    body: line('<receiveTask id="stay"/>', 'stay'),
  })

export const discount = `<?xml version="1.0" encoding="UTF-8"?>
<definitions xmlns="https://www.omg.org/spec/DMN/20191111/MODEL/" xmlns:camunda="http://camunda.org/schema/1.0/dmn"
  id="definitions" name="Discount" namespace="http://engine-gateway/test">
<decision id="discount" name="Discount" camunda:historyTimeToLive="P30D"><decisionTable id="table" hitPolicy="FIRST">
<input id="in"><inputExpression id="sum" typeRef="integer"><text>sum</text></inputExpression></input>
<output id="out" name="percent" typeRef="integer"/>
<rule id="large"><inputEntry id="i1"><text>&gt;= 1000</text></inputEntry><outputEntry id="o1"><text>15</text></outputEntry></rule>
<rule id="small"><inputEntry id="i2"><text></text></inputEntry><outputEntry id="o2"><text>0</text></outputEntry></rule>
</decisionTable></decision></definitions>`

/** Two decisions. One of them requires the other. The engine creates a decision requirements definition only for such decisions. */
export const dish = `<?xml version="1.0" encoding="UTF-8"?>
<definitions xmlns="https://www.omg.org/spec/DMN/20191111/MODEL/" xmlns:camunda="http://camunda.org/schema/1.0/dmn"
  id="menu" name="Menu" namespace="http://engine-gateway/test">
<decision id="dish" name="Dish" camunda:historyTimeToLive="P30D">
<informationRequirement id="needs"><requiredDecision href="#season"/></informationRequirement>
<decisionTable id="dishTable"><input id="in"><inputExpression id="e" typeRef="string"><text>season</text></inputExpression></input>
<output id="out" name="dish" typeRef="string"/>
<rule id="any"><inputEntry id="i"><text></text></inputEntry><outputEntry id="o"><text>"Stew"</text></outputEntry></rule></decisionTable></decision>
<decision id="season" name="Season" camunda:historyTimeToLive="P30D">
<decisionTable id="seasonTable"><input id="in2"><inputExpression id="e2" typeRef="integer"><text>degrees</text></inputExpression></input>
<output id="out2" name="season" typeRef="string"/>
<rule id="cold"><inputEntry id="i2"><text></text></inputEntry><outputEntry id="o2"><text>"Winter"</text></outputEntry></rule></decisionTable></decision>
</definitions>`

export const careCase = `<?xml version="1.0" encoding="UTF-8"?>
<definitions xmlns="http://www.omg.org/spec/CMMN/20151109/MODEL" xmlns:camunda="http://camunda.org/schema/1.0/cmmn"
  targetNamespace="http://engine-gateway/test">
<case id="care" name="Care" camunda:historyTimeToLive="P30D"><casePlanModel id="plan"><planItem id="nursing" definitionRef="nurse"/>
<humanTask id="nurse" name="Nurse"/></casePlanModel></case></definitions>`
