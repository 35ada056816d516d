/** Pause between two reads of the policy. An operator may change it while the gateway is connected. */
const READ_AGAIN_MS = 60_000

export interface RemovalWatchOptions {
  /** Returns the section `memory` of the command INFO of each server. Null if a server did not respond or does not permit the command. */
  readonly readReports: () => Promise<readonly string[] | null>
  /** Called when the policy is known for the first time, and after each change. */
  readonly onChange: (policy: string | null) => void
}

/** Watches whether Redis removes keys that have not expired when its memory is full. */
export class RemovalWatch {
  readonly #options: RemovalWatchOptions
  readonly #timer: NodeJS.Timeout
  #policy: string | null | undefined

  constructor(options: RemovalWatchOptions) {
    this.#options = options
    this.#timer = setInterval(() => void this.read(), READ_AGAIN_MS).unref()
  }

  /** The value of `maxmemory-policy` by which keys are removed. Null if no key is removed, undefined if this is unknown. */
  get policy(): string | null | undefined {
    return this.#policy
  }

  /** Reads the policy. If it cannot be read, the former one remains. */
  async read(): Promise<void> {
    const reports = await this.#options.readReports()
    const policies = reports?.map(removalPolicyOf) ?? [undefined]
    if (policies.includes(undefined)) return
    const policy = policies.find((found) => found !== null) ?? null
    if (policy === this.#policy) return
    this.#policy = policy
    this.#options.onChange(policy)
  }

  close(): void {
    clearInterval(this.#timer)
  }
}

/** Returns the policy in a report of INFO. Null if the server removes no keys, undefined if the report does not contain the settings. */
export function removalPolicyOf(report: string): string | null | undefined {
  const maxBytes = /^maxmemory:(\d+)\r?$/m.exec(report)?.[1]
  const policy = /^maxmemory_policy:([\w-]+)\r?$/m.exec(report)?.[1]
  if (maxBytes === undefined || policy === undefined) return undefined
  return maxBytes === '0' || policy === 'noeviction' ? null : policy
}
