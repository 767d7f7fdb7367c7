/** The login form: plain HTML without scripts, so that a person and a program can use it. */
export function loginPage(action: string, problem = ''): string {
  return page(`
    <h1>Log in</h1>
    <p>This is the identity provider of the local AWS, in place of Google: any e-mail address will do.</p>
    ${problem && `<p role="alert">${escapeHtml(problem)}</p>`}
    <form method="post" action="${escapeHtml(action)}">
      <label>E-mail <input type="email" name="email" autocomplete="email" autofocus></label>
      <button type="submit" name="choice" value="continue">Continue</button>
      <button type="submit" name="choice" value="cancel">Cancel</button>
    </form>`);
}

/** The page of a login that cannot continue. */
export function errorPage(code: string, description = ''): string {
  return page(`<h1>${escapeHtml(code)}</h1><p>${escapeHtml(description)}</p>`);
}

function page(body: string): string {
  return `<!doctype html>
<html lang="en">
  <head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Log in</title></head>
  <body>${body}
  </body>
</html>
`;
}

/** A picture with the first letter of the address, in a colour derived from it. */
export function picture(email: string): string {
  const hue = [...email].reduce((sum, character) => sum + character.charCodeAt(0), 0) % 360;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 96 96"><rect width="96" height="96" fill="hsl(${hue} 50% 45%)"/><text x="48" y="64" font-family="sans-serif" font-size="48" text-anchor="middle" fill="#fff">${escapeHtml(email[0]?.toUpperCase() ?? '')}</text></svg>`;
}

function escapeHtml(text: string): string {
  const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };
  return text.replace(/[&<>"']/g, (character) => entities[character] ?? '');
}
