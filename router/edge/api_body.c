/*
 * api_body.c - jansson reads the bodies of API calls: they are small, they are for the router
 * itself, and nobody gets them forwarded, so a value tree is what is wanted here. Its error texts
 * were refused as answers, because they quote the input.
 */
#include "router/edge/api_body.h"

#include "lib/core/format.h"

json_t *api_body_read(struct mcpx_slice body, struct http_reply *reply)
{
    json_error_t error;
    json_t *root;

    if (body.len == 0) {
        http_reply_fail(reply, MCPX_EREQUEST, "body is empty; expected a JSON object");
        return NULL;
    }
    root = json_loadb(body.text, body.len, JSON_REJECT_DUPLICATES, &error);
    if (json_is_object(root))
        return root;
    if (root) {
        json_decref(root);
        http_reply_fail(reply, MCPX_EREQUEST, "body must be a JSON object");
        return NULL;
    }
    http_reply_fail(reply, MCPX_EREQUEST, NULL);
    mx_format(&reply->detail, "body %s (line %s, column %s)",
              json_error_code(&error) == json_error_duplicate_key ? "names a member twice"
                                                                  : "is not valid JSON",
              error.line, error.column);
    return NULL;
}

static void fail_type(const char *name, const char *wanted, struct http_reply *reply)
{
    http_reply_fail(reply, MCPX_EREQUEST, name);
    mx_format(&reply->detail, " must be %s", wanted);
}

bool api_body_string(const json_t *body, const char *name, struct mcpx_slice *out,
                     struct http_reply *reply)
{
    const json_t *value = json_object_get(body, name);

    if (value && !json_is_string(value)) {
        fail_type(name, "a string", reply);
        return false;
    }
    *out = (struct mcpx_slice){json_string_value(value), json_string_length(value)};
    return true;
}

bool api_body_array(const json_t *body, const char *name, char **out, struct http_reply *reply)
{
    const json_t *value = json_object_get(body, name);

    *out = NULL;
    if (!value)
        return true;
    if (!json_is_array(value)) {
        fail_type(name, "an array", reply);
        return false;
    }
    *out = json_dumps(value, JSON_COMPACT);
    if (!*out)
        http_reply_fail(reply, MCPX_ENOMEM, NULL);
    return *out != NULL;
}

void api_body_fault(enum mcpx_err err, const char *name, const struct mcpx_fault *fault,
                    struct http_reply *reply)
{
    http_reply_fail(reply, err, err == MCPX_ENOMEM ? NULL : name);
    if (err == MCPX_ENOMEM)
        return;
    if (!fault->reason)
        mx_format(&reply->detail, ": %s", mcpx_strerror(err));
    else if (fault->field && *fault->field)
        mx_format(&reply->detail, ": %s (%s, byte %s)", fault->reason, fault->field,
                  fault->offset);
    else
        mx_format(&reply->detail, ": %s (byte %s)", fault->reason, fault->offset);
}
