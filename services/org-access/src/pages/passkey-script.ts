/**
 * The only script of the sign-in pages. It shows the forms that ask for a passkey, hands their options to the browser's
 * authenticator, and sends what it answers as a field of the form. It fetches nothing. Without it such a form stays
 * hidden behind a note that leads elsewhere.
 */
export const PASSKEY_SCRIPT = `'use strict';
(() => {
  const bytesOf = (text) =>
    Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (character) => character.charCodeAt(0));
  const textOf = (buffer) =>
    btoa(String.fromCharCode(...new Uint8Array(buffer)))
      .replaceAll('+', '-')
      .replaceAll('/', '_')
      .replaceAll('=', '');
  const withBytes = (descriptors) => descriptors.map((each) => ({ ...each, id: bytesOf(each.id) }));

  async function create(options) {
    const credential = await navigator.credentials.create({
      publicKey: {
        ...options,
        challenge: bytesOf(options.challenge),
        user: { ...options.user, id: bytesOf(options.user.id) },
        excludeCredentials: withBytes(options.excludeCredentials),
      },
    });
    const { clientDataJSON, attestationObject } = credential.response;
    const transports = credential.response.getTransports ? credential.response.getTransports() : [];
    return toJson(credential, { clientDataJSON: textOf(clientDataJSON), attestationObject: textOf(attestationObject), transports });
  }

  async function get(options) {
    const credential = await navigator.credentials.get({
      publicKey: {
        ...options,
        challenge: bytesOf(options.challenge),
        allowCredentials: withBytes(options.allowCredentials),
      },
    });
    const { clientDataJSON, authenticatorData, signature, userHandle } = credential.response;
    return toJson(credential, {
      clientDataJSON: textOf(clientDataJSON),
      authenticatorData: textOf(authenticatorData),
      signature: textOf(signature),
      ...(userHandle && userHandle.byteLength > 0 ? { userHandle: textOf(userHandle) } : {}),
    });
  }

  function toJson({ id, rawId, type }, response) {
    return JSON.stringify({ id, rawId: textOf(rawId), type, response });
  }

  const FAULTS = {
    NotAllowedError: 'No passkey was used: it was cancelled, took too long, or there is none here.',
    InvalidStateError: 'There is a passkey of yours on this device already.',
    SecurityError: 'Passkeys do not work at this address: open this page at ',
  };

  function enable(form, note, fault) {
    form.hidden = false;
    if (note) note.hidden = true;
    form.addEventListener('submit', async (event) => {
      event.preventDefault();
      const button = form.querySelector('button');
      button.disabled = true;
      fault.hidden = true;
      const options = JSON.parse(form.dataset.options);
      try {
        form.elements.namedItem('credential').value = await (form.dataset.passkey === 'create' ? create : get)(options);
        form.submit();
      } catch (error) {
        const host = error.name === 'SecurityError' ? (options.rpId || options.rp.id) + '.' : '';
        fault.textContent = (FAULTS[error.name] || 'Your browser could not use a passkey.') + host;
        fault.hidden = false;
        button.disabled = false;
      }
    });
  }

  if (!window.PublicKeyCredential) return;
  const form = document.querySelector('form[data-passkey]');
  if (form) enable(form, document.getElementById('passkey-note'), document.getElementById('passkey-fault'));
})();
`;
