/** The events that create an external task. There is a process of the same name for each. */
export const KINDS = ['start', 'completion', 'message', 'timer', 'asynchronous'] as const
export type Kind = (typeof KINDS)[number]

const BEFORE: Readonly<Record<Kind, string>> = {
  start: '',
  completion: '<userTask id="before" />',
  message: '<receiveTask id="before" messageRef="go" />',
  timer:
    '<intermediateCatchEvent id="before"><timerEventDefinition><timeDuration>PT1S</timeDuration></timerEventDefinition></intermediateCatchEvent>',
  asynchronous: '<task id="before" />',
}

/** Returns the model of a process whose external task has the topic that the variable `topic` names. */
export function modelOf(kind: Kind): string {
  const isAsync = kind === 'asynchronous' ? ' camunda:asyncBefore="true"' : ''
  const before = BEFORE[kind]
  const flows =
    before === ''
      ? '<sequenceFlow id="toWork" sourceRef="begin" targetRef="work" />'
      : '<sequenceFlow id="toBefore" sourceRef="begin" targetRef="before" /><sequenceFlow id="toWork" sourceRef="before" targetRef="work" />'
  return `<?xml version="1.0" encoding="UTF-8"?>
<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" xmlns:camunda="http://camunda.org/schema/1.0/bpmn"
             targetNamespace="http://engine-gateway/bench">
  <message id="go" name="go" />
  <process id="${kind}" isExecutable="true" camunda:historyTimeToLive="P30D">
    <startEvent id="begin" />
    ${before}
    ${flows}
    <serviceTask id="work" camunda:type="external" camunda:topic="\${topic}"${isAsync} />
    <sequenceFlow id="toEnd" sourceRef="work" targetRef="end" />
    <endEvent id="end" />
  </process>
</definitions>`
}
