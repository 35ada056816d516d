import t from 'tap'
import { OPERATIONS } from '../../../src/operations/all.ts'
import {
  PUBLISHED_IDS,
  PUBLISHED_SCHEMAS,
  PUBLISHED_SOURCES,
  type PublishedType,
  publishedOperation,
  publishedSchema,
} from '../../../src/operations/published/facts.ts'
import { templateOf } from './template-of.ts'

t.test('the facts are from the three versions of Camunda on Maven Central', (t) => {
  t.same(
    PUBLISHED_SOURCES.map(({ family, version }) => `${family} ${version}`),
    ['Camunda 7.22.0', 'Camunda 7.23.0', 'Camunda 7.24.0'],
  )
  t.equal(PUBLISHED_IDS.length, 399)
  t.end()
})

t.test('every published operation and schema can be read', (t) => {
  for (const id of PUBLISHED_IDS) t.equal(publishedOperation(id)?.id, id)
  for (const name of PUBLISHED_SCHEMAS) t.ok(publishedSchema(name).size > 0, name)
  t.equal(publishedOperation('noSuchOperation'), null)
  t.throws(() => publishedSchema('NoSuchDto'), /no published schema NoSuchDto/)
  t.end()
})

t.test('every schema that a type names exists', (t) => {
  const named = (type: PublishedType): readonly string[] => {
    if (type.kind === 'schema') return [type.name]
    if (type.kind === 'list') return named(type.items)
    return type.kind === 'map' ? named(type.values) : []
  }
  const bodies = PUBLISHED_IDS.flatMap((id) => publishedOperation(id)?.body ?? [])
  const members = PUBLISHED_SCHEMAS.flatMap((name) => [...publishedSchema(name).values()])
  const names = [...bodies, ...members.map(({ type }) => type)].flatMap(named)
  t.ok(names.length > 150)
  t.same(
    names.filter((name) => !PUBLISHED_SCHEMAS.includes(name)),
    [],
  )
  t.end()
})

t.test('types, requirements, values and versions of parameters and members are known', (t) => {
  const all = { since: null, until: null }
  t.same(publishedOperation('getTasks')?.query.get('taskDefinitionKeyNotIn'), {
    type: { kind: 'string', format: null, values: null },
    isRequired: false,
    versions: { since: '7.24', until: null },
  })
  t.same(publishedOperation('isUserAuthorized')?.query.get('resourceType'), {
    type: { kind: 'integer', format: 'int32' },
    isRequired: true,
    versions: all,
  })
  const query = publishedSchema('TaskQueryDto')
  t.same(query.get('orQueries')?.type, { kind: 'list', items: { kind: 'schema', name: 'TaskQueryDto' } })
  t.same(query.get('createdAfter')?.type, { kind: 'string', format: 'date-time', values: null })
  t.same(publishedSchema('TaskQueryDto.sorting').get('sortOrder')?.type, {
    kind: 'string',
    format: null,
    values: ['asc', 'desc'],
  })
  t.same(publishedSchema('StartProcessInstanceDto').get('variables')?.type, {
    kind: 'map',
    values: { kind: 'schema', name: 'VariableValueDto' },
  })
  t.same(publishedSchema('VariableValueDto').get('value')?.type, { kind: 'any' })
  t.match(publishedOperation('addAttachment'), { consumes: 'multipart/form-data', versions: all })
  t.match(publishedOperation('deleteTaskComment'), { body: null, versions: { since: '7.23', until: null } })
  t.end()
})

t.test('the table has every published operation, under its id and its path', (t) => {
  const routes = new Map(OPERATIONS.map(({ id, method, template }) => [id, `${method} ${template}`]))
  const missing = PUBLISHED_IDS.filter((id) => {
    return routes.get(id) !== templateOf(publishedOperation(id)?.route ?? '')
  })
  t.same(missing, [])
  t.end()
})
