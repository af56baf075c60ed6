/** The JSON of an event that has such a text, which may be escaped; null of any other. */
export function parsedWhere(text: RegExp, data: string): unknown {
  if (!text.test(data) && !data.includes('\\u')) return null;
  try {
    return JSON.parse(data);
  } catch {
    // What is no JSON is described by the SDK.
    return null;
  }
}
