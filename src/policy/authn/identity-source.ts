import type { StampOf } from './credentials.ts'
import type { Principal } from '../../request/principal.ts'
import type { SourceState } from '../../files/source-state.ts'

export interface Proof {
  readonly user: string
  readonly password: string
  /** The origin for which attempts are counted: an address, or the network of one subscriber. */
  readonly from: string
  /** True if this credential was correct at an earlier time. The caller is then not guessing. */
  readonly proven: boolean
  /** True if no request waits for the result. */
  readonly inBackground?: boolean
}

/** The users of one engine. */
export interface IdentitySource {
  /**
   * Resolves to null for an unknown user or a wrong password, after the same time in both cases.
   * @throws GatewayError if the users are unavailable now
   */
  readonly verify: (proof: Proof) => Promise<Principal | null>
  /** Resolves to a user without verifying credentials, or to null if the user is unknown. @throws GatewayError if the users are unavailable now */
  readonly principalOf: (userId: string) => Promise<Principal | null>
  /** Returns all users, or null if this source cannot list its users. @throws GatewayError if the users are unavailable now */
  readonly everybody: () => readonly Principal[] | null
  /** Resolves to the groups of any user, also of users that send no request. */
  readonly groupsOf: (userId: string) => Promise<readonly string[]>
  /** Returns the stamp of a user. A changed stamp invalidates cached credentials. @throws GatewayError if no decision is possible any more */
  readonly stampOf: StampOf
  /** True if every change of a user changes the stamp. False if users may also be changed in a way that this source does not notice. */
  readonly noticesAll: boolean
  readonly state: () => SourceState
}
