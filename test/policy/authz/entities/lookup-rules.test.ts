import t from 'tap'
import { OPERATIONS } from '../../../../src/operations/all.ts'
import { COMPOSITES, LOOKUPS } from '../../../../src/policy/authz/entities/lookup-rules.ts'

t.test('a lookup reads one entity by an operation of the published API', (t) => {
  const templates = OPERATIONS.flatMap(({ method, template }) => (method === 'GET' ? [template] : []))
  for (const [name, { path }] of Object.entries(LOOKUPS)) {
    const isComposite = Object.keys(COMPOSITES).includes(name)
    const [target = '', query = ''] = path(isComposite ? 'one%2F/other%2F' : 'one%2F').split('?')
    t.ok(
      templates.some((template) => patternOf(template).test(target)),
      `${name}: ${target}`,
    )
    const asked = `${target}?${query}`
    t.same(asked.match(/one%2F|other%2F/g), isComposite ? ['one%2F', 'other%2F'] : ['one%2F'], asked)
  }
  t.end()
})

/** Returns a pattern in which a parameter matches one segment and no name of another path. */
function patternOf(template: string): RegExp {
  return new RegExp(`^${template.replace(/:\w+/g, '(?:one|other)%2F')}$`)
}

t.test('the path of a lookup by key includes the tenant', (t) => {
  for (const name of [
    'decisionDefinitionOfKey',
    'decisionRequirementsDefinitionOfKey',
    'processDefinitionOfKey',
  ] as const)
    t.match(LOOKUPS[name].path('k/t'), /\/key\/k\/tenant-id\/t$/, name)
  t.end()
})
