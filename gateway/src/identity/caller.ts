/** Who asks: the name of the token, never the token, and the address. */
export interface Caller {
  token: string;
  address: string;
}
