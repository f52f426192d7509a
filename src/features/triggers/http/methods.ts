/** HTTP methods that a route may have. */
export const HTTP_METHODS = ["get", "post", "put", "delete", "patch"] as const;
