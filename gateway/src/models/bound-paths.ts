const MAX_PATH_CHARS = 10_000;

/**
 * For Google's SDK, which makes an object of every two characters of the `jsonPath` of a part of a call, which nobody asked for. What is
 * shorter than that is counted when the SDK has read it.
 */
export const boundPaths = () => (data: string) => {
  if (data.length > MAX_PATH_CHARS && pathChars(data) > MAX_PATH_CHARS)
    throw new Error(`the provider sent paths of more than ${MAX_PATH_CHARS} characters in one event`);
};

function pathChars(data: string): number {
  let chars = 0;
  try {
    JSON.parse(data, (key, value: unknown) => {
      if (key === 'jsonPath') chars += String(value).length;
      return value;
    });
    return chars;
  } catch (error) {
    // What is no JSON is described by the SDK; what cannot be walked through nests too deeply.
    return error instanceof SyntaxError ? 0 : Infinity;
  }
}
