import type { Logger } from '../log.ts'
import type { RenewalOptions } from './tls-listener.ts'

/** Lines about the files of a listener. `section`: its path in the configuration. */
export function onRenewal(
  section: string,
  log: Pick<Logger, 'info' | 'error'>,
): Pick<RenewalOptions, 'onProblem' | 'onRenewed'> {
  return {
    onProblem: (problem) => {
      if (problem !== null)
        log.error(
          { section, problem },
          'a certificate or key cannot be taken: what was read before stays in force',
        )
    },
    onRenewed: () => log.info({ section }, 'a certificate was renewed'),
  }
}
