import { NAMESPACE } from './models.ts'
import type { Activity, FormField, ProcessModel } from './models.ts'

/** Returns the model as a BPMN document that a real engine can deploy. */
export function bpmnOf(model: ProcessModel): string {
  const { key, name, version, activities } = model
  return `<?xml version="1.0" encoding="UTF-8"?>
<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" xmlns:camunda="http://camunda.org/schema/1.0/bpmn"
             targetNamespace="${NAMESPACE}">
${activities.flatMap(eventOf).join('')}  <process id="${key}" name="${name}" isExecutable="true"
           camunda:historyTimeToLive="P30D" camunda:versionTag="${version}.0">
    <startEvent id="start">${formOf(model.form)}</startEvent>
${activities.length === 1 ? '' : FORK}${activities.map((one) => activityOf(one, activities.length)).join('')}    <endEvent id="end" />
  </process>
</definitions>
`
}

const FORK = `    <sequenceFlow id="toFork" sourceRef="start" targetRef="fork" />
    <parallelGateway id="fork" />
    <parallelGateway id="join" />
    <sequenceFlow id="toEnd" sourceRef="join" targetRef="end" />
`

function eventOf(activity: Activity): string[] {
  if (activity.kind !== 'signal' && activity.kind !== 'message') return []
  return [`  <${activity.kind} id="${activity.event}" name="${activity.event}" />\n`]
}

function activityOf(activity: Activity, count: number): string {
  const { id } = activity
  const [before, after] = count === 1 ? ['start', 'end'] : ['fork', 'join']
  return `    <sequenceFlow id="to-${id}" sourceRef="${before}" targetRef="${id}" />
    ${elementOf(activity)}
    <sequenceFlow id="from-${id}" sourceRef="${id}" targetRef="${after}" />
`
}

function elementOf(activity: Activity): string {
  const id = `id="${activity.id}"`
  if (activity.kind === 'receive') return `<receiveTask ${id} />`
  if (activity.kind === 'user') {
    const groups = activity.groups.length === 0 ? '' : ` camunda:candidateGroups="${activity.groups.join()}"`
    const assignee = activity.assignee === null ? '' : ` camunda:assignee="${activity.assignee}"`
    return `<userTask ${id} name="${activity.name}"${groups}${assignee} />`
  }
  if (activity.kind === 'external') {
    const { topic, priority } = activity
    return `<serviceTask ${id} camunda:type="external" camunda:topic="${topic}" camunda:taskPriority="${priority}" />`
  }
  const event = `<${activity.kind}EventDefinition ${activity.kind}Ref="${activity.event}" />`
  return `<intermediateCatchEvent ${id}>${event}</intermediateCatchEvent>`
}

function formOf(fields: readonly FormField[]): string {
  if (fields.length === 0) return ''
  return `<extensionElements><camunda:formData>
${fields.map(fieldOf).join('')}    </camunda:formData></extensionElements>`
}

function fieldOf({ id, label, type, initial, min }: FormField): string {
  const value = initial === null ? '' : ` defaultValue="${initial}"`
  const validation =
    min === null
      ? ''
      : `<camunda:validation><camunda:constraint name="min" config="${min}" /></camunda:validation>`
  return `      <camunda:formField id="${id}" label="${label}" type="${type}"${value}>${validation}</camunda:formField>\n`
}
