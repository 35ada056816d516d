import t, { type Test } from 'tap'
import { textOf } from '../differential/admin.ts'
import { javaSkip } from '../support/requirements.ts'
import { type Family, VERSIONS } from './build.ts'
import { startEngine } from './engine.ts'
import { type Ask, exchange } from './exchange.ts'
import { startGateway } from './gateway.ts'

/** The engine fails if it creates an object from this text. */
const TEXT = Buffer.from('not a Java object').toString('base64')
const OBJECT = {
  type: 'Object',
  value: TEXT,
  valueInfo: {
    objectTypeName: 'does.not.Exist',
    serializationDataFormat: 'application/x-java-serialized-object',
  },
}
/** Matches a response for which the engine has tried to create the object. */
const created = { text: /Cannot (?:deserialize object|get form)/ }

/** A task whose form has no field, a task whose form has the variable, a receive task and an external task. */
const MODEL = `<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" xmlns:camunda="http://camunda.org/schema/1.0/bpmn"
  targetNamespace="x"><message id="m1" name="first"/><message id="m2" name="second"/>
<process id="objects" isExecutable="true" camunda:historyTimeToLive="P1D">
<startEvent id="start"><messageEventDefinition messageRef="m1"/></startEvent>
<sequenceFlow id="f1" sourceRef="start" targetRef="plain"/><userTask id="plain"/>
<sequenceFlow id="f2" sourceRef="plain" targetRef="form"/><userTask id="form"><extensionElements>
<camunda:formData><camunda:formField id="object" type="string"/></camunda:formData></extensionElements></userTask>
<sequenceFlow id="f3" sourceRef="form" targetRef="receive"/><receiveTask id="receive" messageRef="m2"/>
<sequenceFlow id="f4" sourceRef="receive" targetRef="external"/>
<serviceTask id="external" camunda:type="external" camunda:topic="objects"/>
<sequenceFlow id="f5" sourceRef="external" targetRef="end"/><endEvent id="end"/></process></definitions>`

/** The engines, with the start of the names of their properties. */
const ENGINES = [
  ['camunda-7.24.0', 'camunda'],
  ['operaton', 'operaton'],
] as const

for (const [family, prefix] of ENGINES)
  t.test(
    `${VERSIONS[family]} returns the stored text of objects through the gateway`,
    { skip: javaSkip },
    (t) => readObjects(t, family, prefix),
  )

async function readObjects(t: Test, family: Family, prefix: string): Promise<void> {
  const engine = await startEngine({
    family,
    args: [`--${prefix}.bpm.generic-properties.properties.javaSerializationFormatEnabled=true`],
  })
  t.teardown(() => engine.stop())
  const gateway = await startGateway(engine.base)
  t.teardown(() => gateway.drain())
  const atEngine = askerOf(engine.base, {})
  const atGateway = askerOf(gateway.base, gateway.headers)
  const first = async (path: string) => firstOf((await atEngine('GET', path)).body)
  const form = new FormData()
  form.append('objects.bpmn', new Blob([MODEL]), 'objects.bpmn')
  t.match(await atEngine('POST', '/deployment/create', form), { status: 200 })
  const instance = async () => {
    const { body } = await atEngine('POST', '/message', {
      messageName: 'first',
      processVariables: { object: OBJECT },
      resultEnabled: true,
    })
    return textOf(Object(firstOf(body)).processInstance, 'id')
  }
  const id = await instance()
  const taskId = textOf(await first(`/task?processInstanceId=${id}`), 'id')
  await atEngine('PUT', `/task/${taskId}/localVariables/local`, OBJECT)
  const variableId = textOf(
    await first(`/variable-instance?deserializeValues=false&variableName=object`),
    'id',
  )
  const detailId = textOf(await first('/history/detail?deserializeValues=false&variableUpdates=true'), 'id')

  await t.test('a read of variables returns the text, whatever its query requests', async (t) => {
    const reads = [
      ['deserializeValues', `/process-instance/${id}/variables`],
      ['deserializeValue', `/process-instance/${id}/variables/object`],
      ['deserializeValues', `/execution/${id}/localVariables`],
      ['deserializeValue', `/execution/${id}/localVariables/object`],
      ['deserializeValues', `/task/${taskId}/variables`],
      ['deserializeValue', `/task/${taskId}/variables/object`],
      ['deserializeValues', `/task/${taskId}/localVariables`],
      ['deserializeValue', `/task/${taskId}/localVariables/local`],
      ['deserializeValues', `/task/${taskId}/form-variables`],
      ['deserializeValues', '/variable-instance'],
      ['deserializeValue', `/variable-instance/${variableId}`],
      ['deserializeValues', '/history/variable-instance'],
      ['deserializeValue', `/history/variable-instance/${variableId}`],
      ['deserializeValues', '/history/detail?variableUpdates=true'],
      ['deserializeValue', `/history/detail/${detailId}`],
    ] as const
    for (const [parameter, path] of reads) {
      const separator = path.includes('?') ? '&' : '?'
      t.match(await atEngine('GET', path), created, `the engine creates the object: ${path}`)
      for (const query of ['', `${separator}${parameter}=true`])
        t.match(await atGateway('GET', path + query), returned, path + query)
    }
    for (const path of ['/variable-instance', '/history/variable-instance'])
      t.match(await atGateway('POST', `${path}?deserializeValues=true`, {}), returned, `POST ${path}`)
  })

  await t.test('tasks with their variables contain the text', async (t) => {
    for (const name of ['withTaskVariablesInReturn', 'withTaskLocalVariablesInReturn'])
      for (const [method, path, body] of [
        ['GET', `/task?${name}=true`],
        ['GET', `/task/${taskId}?${name}=true`],
        ['POST', '/task', { [name]: true }],
      ] as const) {
        t.match(await atEngine(method, path, body), created, `the engine creates the object: ${path}`)
        t.match(await atGateway(method, path, body), returned, path)
      }
  })

  await t.test('variables of other types are the same as at the engine', async (t) => {
    const variables = {
      text: { type: 'String', value: 'x' },
      long: { type: 'Long', value: 5 },
      double: { type: 'Double', value: 1.5 },
      flag: { type: 'Boolean', value: true },
      none: { type: 'Null', value: null },
      bytes: { type: 'Bytes', value: 'YWJj' },
      date: { type: 'Date', value: '2020-01-01T00:00:00.000+0000' },
      file: { type: 'File', value: 'YWJj', valueInfo: { filename: 'a.txt', mimeType: 'text/plain' } },
    }
    await atEngine('POST', '/process-definition/key/objects/start', {
      businessKey: 'plain',
      variables,
      startInstructions: [{ type: 'startBeforeActivity', activityId: 'plain' }],
    })
    const query = 'processInstanceBusinessKey=plain'
    const plain = textOf(await first(`/task?${query}`), 'id')
    await atEngine('PUT', `/task/${plain}/localVariables/local`, { type: 'String', value: 'of the task' })
    for (const name of ['withTaskVariablesInReturn', 'withTaskLocalVariablesInReturn'])
      for (const [method, path, body] of [
        ['GET', `/task?${query}&${name}=true`],
        ['GET', `/task?${query}&${name}=true&withCommentAttachmentInfo=true`],
        ['GET', `/task/${plain}?${name}=true`],
        ['POST', '/task', { processInstanceBusinessKey: 'plain', [name]: true }],
      ] as const) {
        const [there, here] = [await atEngine(method, path, body), await atGateway(method, path, body)]
        t.same({ ...here, text: '' }, { ...there, text: '' }, path)
        t.match(there, { status: 200, text: /of the task/ }, 'the engine adds variables')
      }
  })

  await t.test('responses to writes contain the text, also without the gateway', async (t) => {
    const variables = { object: OBJECT }
    t.match(
      await atEngine('POST', '/message', {
        messageName: 'first',
        processVariables: variables,
        resultEnabled: true,
        variablesInResultEnabled: true,
      }),
      returned,
      'a message that starts an instance',
    )
    t.match(
      await atEngine('POST', '/process-definition/key/objects/start', {
        variables,
        withVariablesInReturn: true,
        startInstructions: [{ type: 'startBeforeActivity', activityId: 'plain' }],
      }),
      returned,
      'a start',
    )
    t.match(
      await atGateway('POST', `/task/${taskId}/complete`, { withVariablesInReturn: true }),
      returned,
      'the completion of a task',
    )
    const withForm = textOf(await first(`/task?processInstanceId=${id}`), 'id')
    // The fields of a form have types, with which the engine reads the variables. No parameter prevents this.
    for (const path of ['form', 'rendered-form', 'form-variables'])
      t.match(await atGateway('GET', `/task/${withForm}/${path}`), created, `the field of a form: ${path}`)
    t.match(
      await atGateway('POST', `/task/${withForm}/submit-form`, {
        variables: { object: { type: 'String', value: 'x' } },
        withVariablesInReturn: true,
      }),
      { status: 200 },
    )
    await atEngine('PUT', `/process-instance/${id}/variables/object`, OBJECT)
    t.match(
      await atGateway('POST', '/message', {
        messageName: 'second',
        processInstanceId: id,
        resultEnabled: true,
        variablesInResultEnabled: true,
      }),
      returned,
      'a message that an instance waits for',
    )
    const topic = { topicName: 'objects', lockDuration: 1000, deserializeValues: true }
    const fetched = { workerId: 'w', maxTasks: 1, topics: [topic] }
    t.match(
      await atEngine('POST', '/external-task/fetchAndLock', fetched),
      created,
      'the engine creates the object',
    )
    t.match(await atGateway('POST', '/external-task/fetchAndLock', fetched), returned, 'external tasks')
  })
}

/** Matches a response with the stored text of the object. */
const returned = { status: 200, text: new RegExp(TEXT) }

function askerOf(base: string, headers: Readonly<Record<string, string>>) {
  return async (method: Ask['method'], path: string, sent?: unknown) => {
    const { status, body } = await exchange(base, { method, path, body: sent }, headers)
    return { status, body, text: Buffer.isBuffer(body) ? body.toString() : JSON.stringify(body) }
  }
}

function firstOf(list: unknown): unknown {
  return Array.isArray(list) ? list[0] : null
}
