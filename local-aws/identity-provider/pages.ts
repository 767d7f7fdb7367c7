/** The login form: plain HTML without scripts, so that a person and a program can use it. */
export function loginPage(action: string, problem = ''): string {
  return page(`
      <h1>Log in</h1>
      <p>This is the identity provider of the local AWS, in place of Google: any e-mail address will do.</p>
      ${problem && `<p class="problem" role="alert">${escapeHtml(problem)}</p>`}
      <form method="post" action="${escapeHtml(action)}">
        <label for="email">E-mail</label>
        <input type="email" name="email" id="email" autocomplete="email" placeholder="you@example.com" autofocus>
        <button type="submit" name="choice" value="continue">Continue</button>
        <button type="submit" name="choice" value="cancel" formnovalidate>Cancel</button>
      </form>`);
}

/** The page of a login that cannot continue. */
export function errorPage(code: string, description = ''): string {
  return page(`
      <h1>${escapeHtml(code)}</h1>
      <p>${escapeHtml(description)}</p>`);
}

/** Looks like the dashboard of the service, in light and dark. */
const STYLE = `
      :root { color-scheme: light dark; --ground: #f8f9fa; --surface: #fff; --line: #dee2e6; --control: #868e96;
        --text: #000; --dimmed: #495057; --primary: #4263eb; --link: #3b5bdb; --problem: #c92a2a; }
      @media (prefers-color-scheme: dark) {
        :root { --ground: #1f1f1f; --surface: #242424; --line: #424242; --control: #828282;
          --text: #c9c9c9; --dimmed: #b8b8b8; --primary: #3b5bdb; --link: #91a7ff; --problem: #ff8787; }
      }
      * { box-sizing: border-box; }
      body { align-items: center; background: var(--ground); color: var(--text); display: grid; justify-items: center;
        font: 1rem/1.55 -apple-system, BlinkMacSystemFont, "Segoe UI", Roboto, Helvetica, Arial, sans-serif;
        margin: 0; min-height: 100dvh; overflow-wrap: anywhere; padding: 1rem; }
      main { background: var(--surface); border: 1px solid var(--line); border-radius: .5rem; max-width: 26rem;
        box-shadow: 0 1px 3px rgb(0 0 0 / 5%), 0 10px 15px -5px rgb(0 0 0 / 5%); padding: 2rem; width: 100%; }
      h1 { font-size: 1.75rem; line-height: 1.3; margin: 0 0 1rem; }
      p { margin: 0 0 1.25rem; }
      p:not(.problem) { color: var(--dimmed); }
      .problem { border: 1px solid; border-radius: .5rem; color: var(--problem); padding: .75rem 1rem; }
      form { display: grid; gap: .75rem; }
      label { font-weight: 500; margin-bottom: -.5rem; }
      input, button { border: 1px solid var(--control); border-radius: .5rem; font: inherit; padding: .5rem .9rem; }
      input { background: var(--surface); color: inherit; }
      input::placeholder { color: var(--dimmed); opacity: 1; }
      button { background: var(--surface); color: inherit; cursor: pointer; font-weight: 600; }
      button[value=continue] { background: var(--primary); border-color: transparent; color: #fff; }
      :focus-visible { outline: 2px solid var(--link); outline-offset: 2px; }`;

function page(body: string): string {
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Log in</title>
    <style>${STYLE}
    </style>
  </head>
  <body>
    <main>${body}
    </main>
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
