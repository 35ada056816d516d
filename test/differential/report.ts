import { writeFile } from 'node:fs/promises'
import type { Outcome, Seen } from './compare.ts'
import { type Kind, type Plan, isRead } from './plan.ts'
import type { CallerSet, RecordText } from './sets.ts'
import { isOfNineteen } from './sets.ts'

/** A comparison that was not equal, with the data that is needed to repeat it. */
export interface Difference {
  readonly outcome: Outcome
  readonly operation: string
  readonly kind: Kind
  readonly set: number
  readonly caller: Pick<CallerSet, 'user' | 'ownGroups' | 'joins' | 'tenants' | 'links'>
  readonly records: readonly RecordText[]
  readonly request: {
    readonly method: string
    readonly path: string
    readonly body?: unknown
    readonly accept?: string
    readonly headers?: Readonly<Record<string, string>>
  }
  readonly engine: Seen
  readonly gateway: Seen
}

interface Counts {
  total: number
  equal: number
  readonly nineteen: boolean
  readonly isRead: boolean
  readonly hasRows: boolean
  readonly outcomes: Map<Outcome, number>
  readonly differences: Difference[]
  /** Lists that are refused as `rows`, of callers with a revocation. */
  filteredByRevocation: number
  /** Requests that are refused as `rows`, and that the documentation names. */
  refusedAsDocumented: number
}

/** The type of authorization records that revoke. */
const REVOKE = 2
const KEPT = 12
/** Outcomes that may be new in a run. */
const VARYING: readonly Outcome[] = ['rows', 'words', 'stricter']
const KEPT_ODD = 2000

/** The counts of one kind of request, for all operations. */
interface KindCounts {
  total: number
  readonly outcomes: Map<Outcome, number>
}

export class Report {
  /** The counts of plain requests, by operation. */
  readonly #counts = new Map<string, Counts>()
  readonly #kinds = new Map<Kind, KindCounts>()
  readonly #odd: Difference[] = []
  readonly #unequal = new Map<string, Difference>()

  add(plan: Plan, outcome: Outcome, difference: () => Difference): void {
    const kind = this.#kinds.get(plan.kind) ?? { total: 0, outcomes: new Map<Outcome, number>() }
    this.#kinds.set(plan.kind, kind)
    kind.total += 1
    kind.outcomes.set(outcome, (kind.outcomes.get(outcome) ?? 0) + 1)
    if (outcome !== 'equal') this.#addUnequal(difference())
    if (plan.kind === 'plain') this.#addPlain(plan, outcome, difference)
    else if (outcome !== 'equal' && outcome !== 'words' && this.#odd.length < KEPT_ODD)
      this.#odd.push(difference())
  }

  /** Adds a difference. One caller may send the same request twice, and the later difference counts. */
  #addUnequal(difference: Difference): void {
    const { kind, set, request } = difference
    this.#unequal.set(JSON.stringify([set, kind, request]), difference)
  }

  /** Returns the outcomes of the comparisons that were not equal, by request. */
  unequal(): Readonly<Record<string, Outcome>> {
    return Object.fromEntries([...this.#unequal].map(([asked, { outcome }]) => [asked, outcome]))
  }

  /**
   * Returns one line for each comparison whose outcome is not that of an earlier run. Leaves out `rows`. Also leaves out `words`,
   * because an engine has other messages for unreadable values after each start, and `stricter`, which depends on times.
   */
  newSince(before: Readonly<Record<string, Outcome>>): readonly string[] {
    return [...this.#unequal]
      .filter(([, { outcome }]) => !VARYING.includes(outcome))
      .filter(([asked, { outcome }]) => before[asked] !== outcome)
      .map(([, one]) => `NEW ${one.outcome} ${one.kind} ${one.operation}: ${exampleOf(one)}`)
  }

  /** Returns the most frequent statuses of both sides among comparisons that were not equal, with the code of the gateway's error. */
  mostFrequent(): readonly string[] {
    const texts = [...this.#unequal.values()].map(
      ({ kind, outcome, engine, gateway }) =>
        `${kind} ${outcome}, engine ${engine.status}, gateway ${gateway.status} ${gateway.code}`,
    )
    return [...Map.groupBy(texts, (text) => text)]
      .sort(([, one], [, other]) => other.length - one.length)
      .slice(0, KEPT)
      .map(([text, { length }]) => `${length} ${text}`)
  }

  #addPlain(plan: Plan, outcome: Outcome, difference: () => Difference): void {
    const counts = this.#of(plan)
    counts.total += 1
    if (outcome === 'equal') counts.equal += 1
    if (outcome === 'rows' && plan.mayBeRefused === true) counts.refusedAsDocumented += 1
    else if (outcome === 'rows' && difference().records.some(({ type }) => type === REVOKE))
      counts.filteredByRevocation += 1
    counts.outcomes.set(outcome, (counts.outcomes.get(outcome) ?? 0) + 1)
    const kept = counts.differences.filter((one) => one.outcome === outcome).length
    if (outcome !== 'equal' && kept < KEPT) counts.differences.push(difference())
  }

  #of(plan: Plan): Counts {
    const { operation } = plan
    const found = this.#counts.get(operation.id)
    if (found !== undefined) return found
    const made: Counts = {
      total: 0,
      equal: 0,
      nineteen: isOfNineteen(operation),
      isRead: isRead(plan),
      hasRows: operation.items !== undefined || operation.selectors !== undefined,
      outcomes: new Map(),
      differences: [],
      filteredByRevocation: 0,
      refusedAsDocumented: 0,
    }
    this.#counts.set(operation.id, made)
    return made
  }

  /** Returns one line for each operation that differs, followed by the sums. */
  lines(seed: number, examples: number): readonly string[] {
    const lines: string[] = []
    for (const [id, { differences, total, outcomes }] of [...this.#counts].sort(([one], [other]) =>
      one.localeCompare(other),
    )) {
      const real = differences.filter(({ outcome }) => outcome === 'differs' || outcome === 'wider')
      const shown = (real.length > 0 ? real : differences).slice(0, examples)
      const counted = [...outcomes]
        .filter(([outcome]) => outcome !== 'equal')
        .map(([outcome, count]) => `${outcome} ${count}`)
      for (const one of shown) lines.push(`${id} (${counted.join(', ')} of ${total}): ${exampleOf(one)}`)
    }
    return [...this.#wider(), ...lines, ...this.#oddLines(examples), ...this.#classes(), this.#sum(seed)]
  }

  /** Returns a line for each stored `wider` difference. Any such difference is a failure. */
  #wider(): readonly string[] {
    return this.#all()
      .filter(({ outcome }) => outcome === 'wider')
      .map((one) => `WIDER ${one.kind} ${one.operation}: ${exampleOf(one)}`)
  }

  #oddLines(examples: number): readonly string[] {
    const shown = new Map<string, number>()
    const lines: string[] = []
    for (const one of this.#odd) {
      if (one.outcome !== 'differs') continue
      const count = shown.get(one.operation) ?? 0
      shown.set(one.operation, count + 1)
      if (count < examples) lines.push(`${one.kind} ${one.operation}: ${exampleOf(one)}`)
    }
    return lines
  }

  #all(): readonly Difference[] {
    return [...[...this.#counts.values()].flatMap(({ differences }) => differences), ...this.#odd]
  }

  #classes(): readonly string[] {
    const sums = new Map<string, number>()
    let plain = 0
    let plainEqual = 0
    for (const { total, equal, hasRows, outcomes } of this.#counts.values()) {
      for (const [outcome, count] of outcomes) sums.set(outcome, (sums.get(outcome) ?? 0) + count)
      if (hasRows) continue
      const aside = (outcomes.get('tenants') ?? 0) + (outcomes.get('check') ?? 0)
      plain += total - aside
      plainEqual += equal
    }
    const classes = [...sums].map(([outcome, count]) => `${outcome} ${count}`).join(', ')
    const kinds = [...this.#kinds].map(([kind, { total, outcomes }]) => {
      const counted = [...outcomes].map(([outcome, count]) => `${outcome} ${count}`)
      return `asked ${kind}: ${total}; ${counted.join(', ')}`
    })
    return [
      ...kinds,
      `operations: ${this.#counts.size}; ${classes}`,
      `operations without rows, tenants aside: ${plainEqual} of ${plain} (${percent(plainEqual, plain)})`,
    ]
  }

  #sum(seed: number): string {
    const { total, equal } = this.totals()
    return `comparisons: ${total}, equal: ${equal} (${percent(equal, total)}), seed: ${seed}`
  }

  /**
   * Returns the totals of plain requests. `wider` counts requests of all kinds, and `revokedDiffer` the `revoked` requests that are
   * neither equal nor stricter.
   */
  totals(): {
    readonly total: number
    readonly equal: number
    readonly nineteenDiffer: boolean
    /** As `nineteenDiffer`, but without lists that are refused because the gateway can only filter them after a revocation (docs/deviations.md). */
    readonly nineteenDifferBesideRevoked: boolean
    readonly wider: number
    readonly revokedDiffer: number
  } {
    const all = [...this.#counts.values()]
    const revoked = this.#kinds.get('revoked')
    const allowed = (revoked?.outcomes.get('equal') ?? 0) + (revoked?.outcomes.get('stricter') ?? 0)
    return {
      total: all.reduce((sum, { total }) => sum + total, 0),
      equal: all.reduce((sum, { equal }) => sum + equal, 0),
      nineteenDiffer: all.some(
        ({ nineteen, total, equal, refusedAsDocumented }) => nineteen && equal + refusedAsDocumented < total,
      ),
      nineteenDifferBesideRevoked: all.some(
        ({ nineteen, total, equal, refusedAsDocumented, filteredByRevocation }) =>
          nineteen && equal + refusedAsDocumented + filteredByRevocation < total,
      ),
      wider: [...this.#kinds.values()].reduce((sum, { outcomes }) => sum + (outcomes.get('wider') ?? 0), 0),
      revokedDiffer: (revoked?.total ?? 0) - allowed,
    }
  }

  async write(file: string): Promise<void> {
    await writeFile(file, JSON.stringify(this.#all(), null, 1))
  }
}

function percent(part: number, whole: number): string {
  return `${whole === 0 ? '0.0' : ((100 * part) / whole).toFixed(2)} %`
}

function exampleOf({ set, request, engine, gateway, records }: Difference): string {
  const { method, path, body, accept, headers } = request
  const asked = `${method} ${path} ${body === undefined ? '' : JSON.stringify(body)} ${accept ?? ''}${headers === undefined ? '' : JSON.stringify(headers)}`
  return `set ${set} (${records.length} records) ${asked.slice(0, 300)} | engine: ${saidOf(engine)} | gateway: ${saidOf(gateway)}`
}

function saidOf({ status, body, code }: Seen): string {
  return `${status} ${code} ${JSON.stringify(body)}`.slice(0, 260)
}
