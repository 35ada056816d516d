import t from 'tap'
import { DocumentParts } from '../../src/api-document/document-parts.ts'
import { type ApiDescription, writeDocument } from '../../src/api-document/document-writer.ts'
import type { OperationObjectOptions } from '../../src/api-document/operation-object.ts'
import { OPERATIONS } from '../../src/operations/all.ts'
import { isRecord } from '../../src/request/value.ts'

const DESCRIPTION: ApiDescription = {
  title: 'Engine default',
  version: '7.24',
  basePath: '/engine-rest',
  schemes: ['basic', 'bearer'],
}
const ALL = new Set(OPERATIONS.map(({ id }) => id))

function documentOf(ids: ReadonlySet<string>, options: Partial<OperationObjectOptions> = {}) {
  const parts = new DocumentParts(OPERATIONS, { release: null, hasIdempotencyKeys: true, ...options })
  const text = writeDocument(parts, DESCRIPTION, { ids, of: 'caller' })
  const document: unknown = JSON.parse(text)
  return { text, document }
}

function valueAt(value: unknown, ...names: readonly string[]): unknown {
  return names.reduce<unknown>((found, name) => (isRecord(found) ? found[name] : undefined), value)
}

t.test('the document has each operation once, with its method and path', (t) => {
  const { document } = documentOf(ALL)
  for (const { id, method, template } of OPERATIONS) {
    const path = template.replaceAll(/:(\w+)/g, '{$1}')
    t.equal(valueAt(document, 'paths', path, method.toLowerCase(), 'operationId'), id)
  }
  t.end()
})

t.test('every reference leads to a part of the document, and every component is referred to', (t) => {
  const { text, document } = documentOf(new Set(['getTasks', 'queryTasks', 'complete']))
  const references = new Set([...text.matchAll(/"\$ref":"#\/([^"]+)"/g)].map(([, path = '']) => path))
  for (const path of references) t.not(valueAt(document, ...path.split('/')), undefined, path)
  for (const kind of ['schemas', 'parameters', 'requestBodies', 'responses', 'headers']) {
    const components = valueAt(document, 'components', kind)
    for (const name of Object.keys(isRecord(components) ? components : {}))
      t.ok(references.has(`components/${kind}/${name}`), name)
  }
  t.notMatch(text, /BatchDto/, 'schemas of other operations are left out')
  t.end()
})

t.test('operations share parameters and responses, and have those of their own', (t) => {
  const { document } = documentOf(ALL)
  const list = valueAt(document, 'paths', '/task', 'get')
  t.match(valueAt(document, 'paths', '/task/{id}', 'parameters'), [
    { $ref: '#/components/parameters/pathId' },
  ])
  t.match(valueAt(document, 'components', 'parameters', 'pathId'), { name: 'id', in: 'path', required: true })
  const parameters = valueAt(list, 'parameters')
  t.ok(Array.isArray(parameters))
  t.match(valueAt(document, 'components', 'parameters', 'maxResults'), {
    name: 'maxResults',
    in: 'query',
    schema: { type: 'integer' },
  })
  const refersTo = JSON.stringify(parameters)
  t.match(refersTo, '{"$ref":"#/components/parameters/maxResults"}')
  t.match(refersTo, '{"name":"taskDefinitionKeyLike","in":"query","schema":{"type":"string"}}')
  t.match(valueAt(document, 'paths', '/task/count', 'get', 'responses', '200'), {
    $ref: '#/components/responses/CountResultDto',
  })
  t.end()
})

t.test('an operation has the names and types of the published API, and the texts of the gateway', (t) => {
  const { document } = documentOf(ALL)
  const complete = valueAt(document, 'paths', '/task/{id}/complete', 'post')
  t.match(complete, {
    summary: /\.$/,
    description: /`TASK_WORK` or `UPDATE` on task `\{id\}`/,
    requestBody: { $ref: '#/components/requestBodies/CompleteTaskDto' },
    responses: {
      200: { $ref: '#/components/responses/VariableValueDtoMap' },
      204: { description: 'No content' },
      default: { $ref: '#/components/responses/Error' },
    },
  })
  t.match(valueAt(document, 'components', 'requestBodies', 'CompleteTaskDto'), {
    content: { 'application/json': { schema: { $ref: '#/components/schemas/CompleteTaskDto' } } },
  })
  t.match(valueAt(document, 'components', 'responses', 'VariableValueDtoMap'), {
    content: {
      'application/json': {
        schema: {
          type: 'object',
          additionalProperties: { $ref: '#/components/schemas/VariableValueDto' },
        },
      },
    },
  })
  t.match(valueAt(document, 'components', 'schemas', 'TaskDto', 'properties', 'assignee'), {
    type: 'string',
    nullable: true,
  })
  const sent = valueAt(document, 'components', 'schemas', 'CompleteTaskDto', 'properties')
  t.match(valueAt(sent, 'withVariablesInReturn'), { type: 'boolean' })
  t.notMatch(JSON.stringify(sent), /nullable/, 'only members of responses may be null')
  t.end()
})

t.test('dates have no format, because the zone of the dates of the engine has no colon', (t) => {
  const { text, document } = documentOf(ALL)
  t.notMatch(text, /"date-time"/)
  t.match(valueAt(document, 'components', 'schemas', 'TaskDto', 'properties', 'created'), {
    $ref: '#/components/schemas/EngineDateOrNull',
  })
  t.match(valueAt(document, 'components', 'schemas', 'EngineDateOrNull'), { type: 'string', nullable: true })
  t.end()
})

function namesIn(release: OperationObjectOptions['release']): string {
  return JSON.stringify(valueAt(documentOf(ALL, { release }).document, 'paths', '/task', 'get', 'parameters'))
}

t.test('parameters of other releases are left out', (t) => {
  t.match(namesIn('Camunda 7.24'), /taskDefinitionKeyNotIn/)
  t.notMatch(namesIn('Camunda 7.22'), /taskDefinitionKeyNotIn/)
  t.match(namesIn(null), /taskDefinitionKeyNotIn/)
  t.end()
})

function parametersWith(hasIdempotencyKeys: boolean): unknown {
  return valueAt(documentOf(ALL, { hasIdempotencyKeys }).document, 'paths', '/message', 'post', 'parameters')
}

t.test('errors may also be texts, as those of the engine about a body that it cannot read', (t) => {
  const { content } = Object(valueAt(documentOf(ALL).document, 'components', 'responses', 'Error'))
  t.same(Object.keys(content), ['application/json', 'text/plain', 'text/html'])
  t.end()
})

t.test('an Idempotency-Key is described if the gateway uses it', (t) => {
  t.same(parametersWith(true), [{ $ref: '#/components/parameters/IdempotencyKey' }])
  t.equal(parametersWith(false), undefined)
  t.end()
})
