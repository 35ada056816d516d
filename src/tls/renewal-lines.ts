import type { Logger } from '../log.ts'
import type { RenewalOptions } from './tls-listener.ts'

/**
 * Returns callbacks that log changes of a listener's certificate files. `section` is the path of the listener in the
 * configuration.
 */
export function onRenewal(
  section: string,
  log: Pick<Logger, 'info' | 'error'>,
): Pick<RenewalOptions, 'onProblem' | 'onRenewed'> {
  return {
    onProblem: (problem) => {
      if (problem !== null)
        log.error(
          { section, problem },
          'cannot use a certificate or key; the files that were loaded before stay in use',
        )
    },
    onRenewed: () => log.info({ section }, 'certificate reloaded'),
  }
}
