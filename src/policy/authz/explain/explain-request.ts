import type { EngineVerdict, GatewayError, Lack } from '../../../errors.ts'
import type { Check } from '../../../operations/notation.ts'
import { RESOURCES } from '../../../operations/permissions.ts'
import type { Asked } from '../../../request/access-request.ts'
import { createAuthorize } from '../checks/authorize.ts'
import { atomsOf } from '../checks/check.ts'
import type { AtomicCheck } from '../decision/decide.ts'
import type { Deciding } from './deciding-record.ts'
import { decidingRecord } from './deciding-record.ts'
import type { RowsExplanation } from './explain-rows.ts'
import { explainRows } from './explain-rows.ts'
import { needsOf, recordsOfGrants, smallestGrants, withGrants } from '../records/grants.ts'
import type { Permit, PermitOptions } from '../permit.ts'
import type { AuthorizationRecord } from '../records/records.ts'
import type { Seen, Verdict, Watch } from '../checks/decision.ts'
import { goOn, lacksOf } from '../checks/decision.ts'

/** Why a request is permitted, or what stands in its way: the decision itself, looked at. */
export interface Explanation {
  /** In the row's order. */
  readonly checks: readonly CheckExplanation[]
  /** Null where the operation answers no rows of its own. */
  readonly rows: RowsExplanation | null
  /** Null: permitted. */
  readonly refusal: GatewayError | EngineVerdict | null
  /** Of all checks, not only of the first that refuses. */
  readonly missing: readonly Lack[]
  /** The fewest records for the user that would be enough. */
  readonly grants: readonly AuthorizationRecord[]
  /** Whether the request has been decided with these records and was permitted; null: there are none. */
  readonly sufficient: boolean | null
}

export interface CheckExplanation {
  readonly check: number
  /** As the table has it. */
  readonly row: Check
  readonly verdict: string
  readonly decisions: readonly Decision[]
  /** Further decisions that are not listed. */
  readonly more: number
}

/** A check runs once, or once for each of what it runs over. */
interface Decision {
  readonly verdict: string
  readonly atoms: readonly DecidedAtom[]
}

/** A permission that was asked for, and what decided about it. */
export interface DecidedAtom {
  readonly permission: string
  /** As the engine's messages name it. */
  readonly resource: string
  /** `*`: all of them. */
  readonly resourceId: string
  /** Null: no record speaks about it. */
  readonly record: Deciding | null
}

const SHOWN_DECISIONS = 50

/** Explains what the permits of one engine decide. @throws GatewayError when a look-up fails */
export type ExplainRequest = (permit: Permit, asked: Asked) => Promise<Explanation>

/** @param options what the permits were made of */
export function createExplainRequest(options: PermitOptions): ExplainRequest {
  return async function explainRequest(permit, asked) {
    const { operation } = permit
    const verdict = await permit.before(asked)
    const rows = (await permit.rows?.(asked, false)) ?? { rows: 'all' }
    const { seen, end } = await lookAtAll(permit, asked)
    const missing = lacksOf(seen.filter(({ check }) => !check.after))
    const grants = smallestGrants(needsOf(missing))
    const { userId } = asked.principal
    const isEnough = async (): Promise<boolean> => {
      const records = () => withGrants(options.records(), userId, grants)
      const { permitted } = await createAuthorize(operation, { ...options, records }).before(asked)
      return permitted
    }
    return {
      checks: operation.checks.map((row, index) => checkOf(row, index, { seen, end, asked, options })),
      rows: await explainRows(operation, rows, { asked, options }),
      refusal: verdict.permitted ? (rows.rows === 'refused' ? rows.refusal : null) : verdict.refusal,
      missing,
      grants: recordsOfGrants(grants, { userId }),
      sufficient: grants.length === 0 ? null : await isEnough(),
    }
  }
}

/** Every check, also those behind one that refuses; those that come after the engine's work are asked about all ids. */
async function lookAtAll(permit: Permit, asked: Asked): Promise<{ seen: readonly Seen[]; end: Verdict }> {
  const seen: Seen[] = []
  const watch: Watch = (one) => {
    seen.push(one)
    return goOn(one)
  }
  const end = await permit.before(asked, watch)
  permit.after?.(asked, '*', watch)
  return { seen, end }
}

interface Look {
  readonly seen: readonly Seen[]
  readonly end: Verdict
  readonly asked: Asked
  readonly options: PermitOptions
}

function checkOf(row: Check, index: number, look: Look): CheckExplanation {
  const seen = look.seen.filter(({ check }) => check.index === index)
  const shown = seen.slice(0, SHOWN_DECISIONS)
  const telling = seen.find(({ verdict }) => !verdict.permitted) ?? seen.at(-1)
  return {
    check: index,
    row,
    verdict: telling === undefined ? unseenWord(index, look) : wordOf(telling.verdict),
    decisions: shown.map((one) => ({ verdict: wordOf(one.verdict), atoms: decidedAtoms(one, look) })),
    more: seen.length - shown.length,
  }
}

function wordOf(verdict: Verdict): string {
  return verdict.permitted ? (verdict.because ?? 'granted') : 'refused'
}

/** A check that nothing was asked for: it had nothing to run over, or the decision ended at it or before. */
function unseenWord(index: number, { seen, end }: Look): string {
  const last = seen.findLast(({ check }) => !check.after)?.check.index ?? -1
  if (end.permitted || index <= last) return 'there is nothing to ask for'
  if (index > last + 1) return 'not reached'
  return 'code' in end.refusal ? 'cannot be told exactly' : 'there is no such entity'
}

function decidedAtoms({ check, ground }: Seen, { asked, options }: Look): readonly DecidedAtom[] {
  const records = options.records()
  const atoms: readonly AtomicCheck[] =
    ground === null
      ? check.permissions.map(({ resource, permission }) => ({ resource, permission, id: null }))
      : atomsOf(check, ground)
  return atoms.map((atom) => ({
    permission: atom.permission,
    resource: RESOURCES[atom.resource].name,
    resourceId: atom.id ?? '*',
    record: decidingRecord(records, asked.principal, atom),
  }))
}
