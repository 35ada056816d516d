import { operatorText } from '../../../errors.ts'
import { invalid, isGiven, membersOf, type ValidationRule } from './engine-error.ts'

/** Rules for a user whose password is checked. */
export const credentialsRules: readonly ValidationRule[] = [
  {
    find: ({ body }) => {
      const { username, password } = membersOf(body)
      return isGiven(username) && isGiven(password)
        ? null
        : invalid(operatorText`Username and password are required`)
    },
  },
]
