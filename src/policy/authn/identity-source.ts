import type { StampOf } from './credentials.ts'
import type { Principal } from '../../request/principal.ts'
import type { SourceState } from '../../files/source-state.ts'

export interface Proof {
  readonly user: string
  readonly password: string
  /** The origin by which attempts are counted: an address, or the network of one subscriber. */
  readonly from: string
  /** This credential was correct at some time: the caller is not guessing. */
  readonly proven: boolean
}

/** The users of one engine. */
export interface IdentitySource {
  /** Null: unknown user or wrong password, after the same time. @throws GatewayError if the users are unavailable now */
  readonly verify: (proof: Proof) => Promise<Principal | null>
  /** The user without a proof of identity, for explanations. Null: unknown. @throws GatewayError if the users are unavailable now */
  readonly principalOf: (userId: string) => Promise<Principal | null>
  /** Everybody; null: this source cannot say who there is. @throws GatewayError if the users are unavailable now */
  readonly everybody: () => readonly Principal[] | null
  /** Of any user, also of one who sends no request. */
  readonly groupsOf: (userId: string) => Promise<readonly string[]>
  /** A change invalidates the user's cached credentials. @throws GatewayError if no decision is possible any more */
  readonly stampOf: StampOf
  /** Whether every change of a user changes the stamp. False: users may also be changed where this source does not notice. */
  readonly noticesAll: boolean
  readonly state: () => SourceState
}
