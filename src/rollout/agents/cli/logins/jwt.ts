import { isData, type LoginData } from './login-file.ts';

/** What a JSON Web Token says of itself, unchecked: only its issuer can tell whether it is genuine. Null = it is none. */
export function claimsOf(token: string): LoginData | null {
  const [header, payload, signature, ...rest] = token.split('.');
  if (!header || !payload || !signature || rest.length > 0) return null;
  try {
    const claims: unknown = JSON.parse(Buffer.from(payload, 'base64url').toString('utf8'));
    return isData(claims) ? claims : null;
  } catch {
    return null;
  }
}

/** When a token runs out, in milliseconds since 1970; null = it does not say. */
export function expiryOf(token: string): number | null {
  const exp = claimsOf(token)?.exp;
  return typeof exp === 'number' && Number.isFinite(exp) ? exp * 1000 : null;
}
