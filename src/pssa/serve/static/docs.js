/* The page /docs: Swagger UI shows the description of this service. */

window.SwaggerUIBundle({ url: "/openapi.json", dom_id: "#api", deepLinking: true, validatorUrl: null });
