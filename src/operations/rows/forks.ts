import type { Check } from '../notation.ts'
import type { Release } from '../published/releases.ts'
import type { TagOperations } from '../table.ts'

const AFTER_CIB_SEVEN_2_2: readonly Release[] = ['CIB seven after 2.2']

const EXIMEE: readonly Release[] = ['EximeeBPMS 1.3']

/** The source does not show which release brought the operations. */
const FLUXNOVA: readonly Release[] = ['Fluxnova 2.0', 'Fluxnova 3.0']

const ADMINISTRATORS = [{ admin: true, denied: 403 }] as const satisfies readonly Check[]

/**
 * Operations of single forks. They were not compared with a running engine, so only administrators may use them. Without entries, some
 * of the paths would be read as those of other entities: `/authorization/self` as that of an authorization with the id `self`.
 */
export const forks = {
  queryOwnAuthorizations: {
    route: 'GET /authorization/self',
    only: AFTER_CIB_SEVEN_2_2,
    checks: ADMINISTRATORS,
  },
  getConfiguration: {
    route: 'GET /configuration',
    only: ['CIB seven 2.2', ...AFTER_CIB_SEVEN_2_2],
    checks: ADMINISTRATORS,
  },
  getScriptSecurityConfig: {
    route: 'GET /script-security/config',
    only: EXIMEE,
    checks: ADMINISTRATORS,
  },
  getScriptViolations: {
    route: 'GET /script-security/violations',
    only: EXIMEE,
    checks: ADMINISTRATORS,
  },
  getScriptViolationsCount: {
    route: 'GET /script-security/violations/count',
    only: EXIMEE,
    checks: ADMINISTRATORS,
  },
  getAttachmentsCount: {
    route: 'GET /task/:id/attachment/count',
    only: FLUXNOVA,
    checks: ADMINISTRATORS,
    loads: 'historicTask',
  },
  getCommentsCount: {
    route: 'GET /task/:id/comment/count',
    only: FLUXNOVA,
    checks: ADMINISTRATORS,
    loads: 'historicTask',
  },
} satisfies TagOperations
