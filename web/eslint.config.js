// The layers of web/src: app → features → ui, api → lib. Features do not import each other.
import hooks from "eslint-plugin-react-hooks";
import tseslint from "typescript-eslint";

const refuse = (message, ...group) => ({ group, message });
const restrictImports = (files, ...patterns) => ({
  files,
  rules: { "no-restricted-imports": ["error", { patterns }] },
});

export default tseslint.config(
  { ignores: ["dist", "node_modules", "src/api/*.gen.ts", "*.js"] },
  ...tseslint.configs.strict,
  {
    plugins: { "react-hooks": hooks },
    rules: {
      "react-hooks/rules-of-hooks": "error",
      "react-hooks/exhaustive-deps": "error",
      // Output of jobs is rendered as text only.
      "no-restricted-syntax": [
        "error",
        { selector: "JSXAttribute[name.name='dangerouslySetInnerHTML']", message: "text nodes only" },
        { selector: "MemberExpression[property.name=/^(innerHTML|outerHTML)$/]", message: "text nodes only" },
      ],
      "no-restricted-globals": ["error", "alert", "confirm", "prompt"],
      "@typescript-eslint/no-invalid-void-type": "off",
      "@typescript-eslint/no-unused-vars": ["error", { varsIgnorePattern: "^_", argsIgnorePattern: "^_" }],
    },
  },
  // A test with a null value fails anyway.
  { files: ["src/**/*.test.ts"], rules: { "@typescript-eslint/no-non-null-assertion": "off" } },
  restrictImports(["src/lib/**"], refuse("lib imports no other layer", "**/ui/*", "**/api/*", "**/app/*", "**/features/**")),
  restrictImports(["src/ui/**"], refuse("ui imports lib only", "**/api/*", "**/app/*", "**/features/**")),
  restrictImports(["src/api/**"], refuse("api imports lib only", "**/ui/*", "**/app/*", "**/features/**")),
  restrictImports(
    ["src/features/**"],
    { regex: "^\\.\\./(?!\\.\\./)", message: "features do not import each other" },
    { regex: "^\\.\\./\\.\\./(?!(ui|api|lib)/)", message: "features import api, ui and lib only" },
  ),
);
