import type { OpenPage } from '../support/chromium.ts'

/**
 * Opens a URL after leaving the current page. Otherwise the current page could evaluate the next expressions, and a URL
 * that differs only in its fragment would not load a new page.
 */
export async function openAt(page: OpenPage, url: string): Promise<void> {
  await page.send('Page.navigate', { url: 'about:blank' })
  await page.wait(`location.href === 'about:blank'`)
  await page.send('Page.navigate', { url })
}

/** Types a text into the first matching input, as a keyboard does. */
export async function type(page: OpenPage, selector: string, text: string): Promise<void> {
  await page.read(`{
    const input = document.querySelector(${JSON.stringify(selector)})
    input.value = ${JSON.stringify(text)}
    for (const name of ['input', 'change']) input.dispatchEvent(new Event(name, { bubbles: true }))
  }`)
}

/** Clicks on an element with this text or title when it is visible and enabled. */
export async function clickOn(page: OpenPage, selector: string, text: string): Promise<void> {
  const found = `[...document.querySelectorAll(${JSON.stringify(selector)})].findLast(
    (one) => one.offsetParent !== null && !one.disabled && (one.textContent + one.title).includes(${JSON.stringify(text)}))`
  await page.wait(`${found} !== undefined`)
  await page.read(`${found}.click()`)
}
