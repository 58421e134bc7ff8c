// The doors of web/src: app → features → ui, api → lib. Features do not know each other.
import hooks from "eslint-plugin-react-hooks";
import tseslint from "typescript-eslint";

const refuse = (message, ...group) => ({ group, message });
const doors = (files, ...patterns) => ({
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
      // Output of jobs is text and nothing else.
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
  // A test that gets nothing fails by itself.
  { files: ["src/**/*.test.ts"], rules: { "@typescript-eslint/no-non-null-assertion": "off" } },
  doors(["src/lib/**"], refuse("lib knows nobody", "**/ui/*", "**/api/*", "**/app/*", "**/features/**")),
  doors(["src/ui/**"], refuse("ui knows lib only", "**/api/*", "**/app/*", "**/features/**")),
  doors(["src/api/**"], refuse("api knows lib only", "**/ui/*", "**/app/*", "**/features/**")),
  doors(
    ["src/features/**"],
    { regex: "^\\.\\./(?!\\.\\./)", message: "features do not know each other" },
    { regex: "^\\.\\./\\.\\./(?!(ui|api|lib)/)", message: "features know api, ui and lib" },
  ),
);
