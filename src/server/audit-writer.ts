import { messageOf } from '../errors.ts'
import type { Logger } from '../log.ts'
import type { AuditEvent } from '../metrics/audit-events.ts'
import { AUDIT_EVENT, type ServingProcesses } from './questions.ts'

/** Writes an event to the audit stream. Never rejects. */
export type WriteAuditEvent = (event: AuditEvent) => Promise<void>

/**
 * Creates the writer of events that no request of a client causes. A process that serves requests writes them, because only these
 * processes have an audit stream. If none of them does, the log has the event.
 */
export function createAuditWriter(
  processes: Pick<ServingProcesses, 'askOne'>,
  log: Pick<Logger, 'error'>,
): WriteAuditEvent {
  return async function writeAuditEvent(event) {
    try {
      if ((await processes.askOne(AUDIT_EVENT, event)) === true) return
      log.error({ event }, 'no process has written an event to the audit stream')
    } catch (error) {
      log.error({ event, reason: messageOf(error) }, 'no process has written an event to the audit stream')
    }
  }
}
