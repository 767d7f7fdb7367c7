import { ActionIcon, Button, createTheme, Menu, Modal, TextInput, Tooltip } from '@mantine/core';

/** The behaviour of components; their colours are in `styles/variables.css`. */
export const theme = createTheme({
  primaryColor: 'indigo',
  primaryShade: { light: 7, dark: 8 },
  defaultRadius: 'md',
  cursorType: 'pointer',
  respectReducedMotion: true,
  components: {
    ActionIcon: ActionIcon.extend({ defaultProps: { variant: 'subtle', color: 'gray', size: 'lg' } }),
    Button: Button.extend({ defaultProps: { variant: 'filled' } }),
    // Outside a portal a menu is part of a landmark, and without the placeholder it contains only its items (rules of axe).
    Menu: Menu.extend({ defaultProps: { withinPortal: false, withInitialFocusPlaceholder: false } }),
    // The library would lock scrolling with a style element, which the Content-Security-Policy forbids.
    Modal: Modal.extend({
      defaultProps: {
        lockScroll: false,
        centered: true,
        transitionProps: { duration: 120 },
        // Some titles contain a file name without spaces.
        styles: { title: { overflowWrap: 'anywhere' } },
        // A page has only one banner, so a dialog's header must not have that role.
        attributes: { header: { role: 'presentation' } },
      },
    }),
    TextInput: TextInput.extend({ defaultProps: { autoComplete: 'off' } }),
    Tooltip: Tooltip.extend({ defaultProps: { openDelay: 400, withinPortal: true } }),
  },
});
