import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import SwaggerParser from '@apidevtools/swagger-parser'
import { Validator } from '@seriousme/openapi-schema-validator'
import t, { type Test } from 'tap'
import { DocumentParts } from '../../src/api-document/document-parts.ts'
import { writeDocument } from '../../src/api-document/document-writer.ts'
import { OPERATIONS } from '../../src/operations/all.ts'
import { RELEASES } from '../../src/operations/published/releases.ts'
import { createFindPossiblePermits } from '../../src/explain/possible-permits.ts'
import { GROUPS, policyOf, randomRecords, seeded } from '../explain/generated-policies.ts'
import { isResource, RESOURCES } from '../../src/operations/permissions.ts'
import { indexRecords } from '../../src/policy/authz/records/records.ts'
import { seed } from '../support/requirements.ts'

function textOf(ids: ReadonlySet<string>, release: (typeof RELEASES)[number] | null): string {
  const parts = new DocumentParts(OPERATIONS, { release, hasIdempotencyKeys: true })
  const description = {
    title: 'Engine default',
    version: '7.24',
    basePath: '/engine-rest',
    schemes: ['basic', 'bearer'],
  } as const
  return writeDocument(parts, description, { ids, of: 'caller' })
}

/** Validates a document with both validators. */
async function assertValid(t: Test, text: string): Promise<void> {
  const { valid, errors } = await new Validator().validate(JSON.parse(text))
  t.ok(valid, JSON.stringify(errors))
  const folder = mkdtempSync(join(tmpdir(), 'document-'))
  const file = join(folder, 'openapi.json')
  writeFileSync(file, text)
  await t.resolves(SwaggerParser.validate(file))
  rmSync(folder, { recursive: true })
}

t.test('the document of all operations is valid, for each release', async (t) => {
  for (const release of [null, ...RELEASES]) {
    const ids = OPERATIONS.filter(({ only }) => release === null || only?.includes(release) !== false).map(
      ({ id }) => id,
    )
    await assertValid(t, textOf(new Set(ids), release))
  }
})

t.test('the documents of generated callers are valid', async (t) => {
  const random = seeded(3 * seed)
  const { policies, adminGroups } = policyOf([], null)
  for (let caller = 0; caller < 10; caller += 1) {
    const resources = Object.keys(RESOURCES).filter(isResource)
    const records = indexRecords(randomRecords(random, { count: 4 * caller, resources }))
    const find = createFindPossiblePermits({
      policies,
      release: null,
      isEnforced: true,
      isOpen: () => false,
      recordsVersion: () => caller,
      subjectOf: async (principal) => ({
        principal,
        records,
        adminGroups,
        adminUsers: [],
        checksTenants: true,
        impliesIdentity: true,
        linkBits: 0,
        hasCases: false,
      }),
    })
    const { operations } = await find({ userId: 'anna', groups: GROUPS.slice(0, caller % 3), tenants: [] })
    await assertValid(t, textOf(operations, null))
  }
})
