// The page /docs: Swagger UI over the description of this service.
window.SwaggerUIBundle({ url: "/openapi.json", dom_id: "#api", deepLinking: true, validatorUrl: null });
