import t from 'tap'
import { type CachedContent, cachePolicyOf } from '../../src/operations/cached-content.ts'

const CASES: readonly (readonly [content: CachedContent, template: string, seconds: number, tag: string])[] =
  [
    ['model', '/process-definition/:id/xml', 3600, 'deployment'],
    ['diagram', '/decision-definition/:id/diagram', 3600, 'deployment'],
    ['model', '/process-definition/key/:key/xml', 30, 'deployment'],
    ['diagram', '/process-definition/key/:key/tenant-id/:tenantId/diagram', 30, 'deployment'],
    ['names', '/external-task/topic-names', 2, 'external-task'],
  ]

t.test('a response by key is cached for 30 s, and by id for an hour', (t) => {
  for (const [content, template, seconds, tag] of CASES)
    t.same(
      cachePolicyOf(content, template),
      { seconds, tags: [tag], content, mayBeStale: content !== 'names' },
      template,
    )
  t.end()
})
