import { SearchTurn } from '../../src/explain/search-turn.ts'

/** A turn that is always over. It counts how often other work could run. */
export class EndedTurn extends SearchTurn {
  ends = 0

  override get isOver(): boolean {
    return true
  }

  override async end(): Promise<void> {
    this.ends += 1
  }
}
