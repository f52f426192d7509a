/** Layout of arrays and objects in forms. */
import { ActionIcon, Button, Fieldset, Group, Input, Stack, Text } from "@mantine/core";
import type {
  ArrayFieldItemTemplateProps,
  ArrayFieldTemplateProps,
  ObjectFieldTemplateProps,
} from "@rjsf/utils";
import { IconArrowDown, IconArrowUp, IconPlus, IconTrash } from "@tabler/icons-react";

function List(props: ArrayFieldTemplateProps) {
  const { title, schema, items, canAdd, onAddClick, required, fieldPathId, rawErrors } = props;
  return (
    <Fieldset id={fieldPathId.$id} legend={required ? `${title} *` : title} className="list-field">
      {schema.description && (
        <Text fz="xs" c="dimmed" mb="xs">
          {schema.description}
        </Text>
      )}
      <Stack gap="xs">
        {items}
        {canAdd && (
          <Group>
            <Button
              size="xs"
              variant="default"
              leftSection={<IconPlus size={14} />}
              aria-label={`Add to ${title}`}
              onClick={onAddClick}
            >
              Add
            </Button>
          </Group>
        )}
        {rawErrors && rawErrors.length > 0 && <Input.Error>{rawErrors.join(", ")}</Input.Error>}
      </Stack>
    </Fieldset>
  );
}

function ListItem({ children, buttonsProps, index }: ArrayFieldItemTemplateProps) {
  const { hasMoveUp, hasMoveDown, hasRemove, onMoveUpItem, onMoveDownItem, onRemoveItem } = buttonsProps;
  const act = { variant: "subtle", color: "gray" } as const;
  return (
    <div className="list-item">
      <div style={{ flex: 1, minWidth: 0 }}>{children}</div>
      <div className="list-item-acts">
        {hasMoveUp && (
          <ActionIcon {...act} aria-label={`Move item ${index + 1} up`} onClick={onMoveUpItem}>
            <IconArrowUp size={15} />
          </ActionIcon>
        )}
        {hasMoveDown && (
          <ActionIcon {...act} aria-label={`Move item ${index + 1} down`} onClick={onMoveDownItem}>
            <IconArrowDown size={15} />
          </ActionIcon>
        )}
        {hasRemove && (
          <ActionIcon {...act} aria-label={`Remove item ${index + 1}`} onClick={onRemoveItem}>
            <IconTrash size={15} />
          </ActionIcon>
        )}
      </div>
    </div>
  );
}

/** Renders the root object plainly and nested objects as fieldsets. */
function Properties({ title, description, properties, fieldPathId, required }: ObjectFieldTemplateProps) {
  const fields = (
    <Stack gap="md">
      {description && (
        <Text fz="xs" c="dimmed">
          {description}
        </Text>
      )}
      {properties.filter(({ hidden }) => !hidden).map(({ content }) => content)}
    </Stack>
  );
  if (fieldPathId.path.length === 0 || !title || typeof fieldPathId.path.at(-1) === "number") return fields;
  return (
    <Fieldset id={fieldPathId.$id} legend={required ? `${title} *` : title} className="list-field">
      {fields}
    </Fieldset>
  );
}

export const TEMPLATES = {
  ArrayFieldTemplate: List,
  ArrayFieldItemTemplate: ListItem,
  ObjectFieldTemplate: Properties,
};
