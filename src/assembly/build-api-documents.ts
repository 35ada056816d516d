import type { ApiDocuments, DescribedEngine } from '../api-document/api-documents.ts'
import { type Config, settingsOf } from '../config/config.ts'
import { OPERATIONS } from '../operations/all.ts'
import { OWN_OPERATIONS } from '../operations/own-operations.ts'
import type { Operation } from '../operations/table.ts'
import type { Component } from '../component.ts'

export function servedOperations({ apiDocument }: Pick<Config, 'apiDocument'>): readonly Operation[] {
  if (apiDocument === null) return OPERATIONS
  const own = apiDocument.page
    ? OWN_OPERATIONS
    : OWN_OPERATIONS.filter(({ handler }) => handler !== 'api page')
  return [...OPERATIONS, ...own]
}

/** Returns the descriptions of the API, also for the page of the admin listener. Their code is loaded only if they are configured. */
export async function buildApiDocuments(
  config: Config,
  hasIdempotencyKeys: boolean,
): Promise<ApiDocuments | null> {
  if (config.apiDocument === null) return null
  const { ApiDocuments: Documents } = await import('../api-document/api-documents.ts')
  const engines = Object.entries(config.engines).map(([name, engine]): DescribedEngine => {
    const { identity } = settingsOf(config, engine)
    return {
      name,
      release: engine.release,
      schemes: identity.tokens === null ? ['basic'] : ['basic', 'bearer'],
    }
  })
  return new Documents({ operations: OPERATIONS, basePath: config.basePath, engines, hasIdempotencyKeys })
}

/** Creates the component that describes all operations before the gateway is ready, so that the first caller does not wait for it. */
export function createApiPreparation(documents: Pick<ApiDocuments, 'prepare'> | null): Component {
  return documents === null ? {} : { start: () => documents.prepare() }
}
