import tseslint from "typescript-eslint";

export default tseslint.config(...tseslint.configs.strict, {
  rules: {
    // Typed arrays are indexed within bounds that loops give.
    "@typescript-eslint/no-non-null-assertion": "off",
  },
});
