import tailwindcss from '@tailwindcss/vite';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

export default defineConfig({
  plugins: [react(), tailwindcss()],
  build: {
    outDir: '../dist/web',
    emptyOutDir: true,
    // A test reads there how large pages are.
    manifest: true,
    // Every browser that has what the pages use.
    target: 'es2023',
    // The policy of the pages allows no address but their own, `data:` among them for nothing but pictures.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
  worker: { format: 'es' },
});
