import { GatewayError } from '../errors.ts'
import { isRecord } from '../request/value.ts'
import { EngineUnavailableError, type Explain, QuestionError, questionOf } from './explain.ts'
import { textOfExplained } from './explain-text.ts'

/** Responds to a question from the admin listener in JSON. With `text: true` the response also contains a text for people. */
export async function respondToQuestion(
  explain: Explain,
  value: unknown,
): Promise<{ readonly status: number; readonly value: unknown }> {
  try {
    const explained = await explain(questionOf(value))
    const isForPeople = isRecord(value) && value['text'] === true
    return {
      status: 200,
      value: isForPeople ? { ...explained, text: textOfExplained(explained) } : explained,
    }
  } catch (error) {
    if (error instanceof QuestionError) return { status: 400, value: { error: error.message } }
    if (error instanceof GatewayError || error instanceof EngineUnavailableError)
      return { status: 503, value: { error: error.message } }
    throw error
  }
}
