import java.lang.reflect.Method;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.TreeMap;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.protocol.ByteBufferAccessor;
import org.apache.kafka.common.protocol.Message;
import org.apache.kafka.common.protocol.MessageSizeAccumulator;
import org.apache.kafka.common.protocol.ObjectSerializationCache;
import org.apache.kafka.common.protocol.Readable;
import org.apache.kafka.common.protocol.types.BoundField;
import org.apache.kafka.common.protocol.types.Field;
import org.apache.kafka.common.protocol.types.Schema;
import org.apache.kafka.common.protocol.types.Struct;
import org.apache.kafka.common.protocol.types.TaggedFields;
import org.apache.kafka.common.protocol.types.Type;

/**
 * Prints what Kafka's own message classes put on the wire: for each message named in the arguments and each of its
 * versions the default message, one with every field filled, and one with every nullable field null and no elements.
 *
 * One line holds the message, the kind (default, filled, empty), the versions, and the bytes that these versions share
 * in hex; "refused" instead of the bytes when Kafka's class cannot be written in these versions.
 *
 * How to run it is in the README beside it.
 */
public class Golden {
    enum Kind { DEFAULT, FILLED, EMPTY }

    public static void main(String[] names) throws Exception {
        for (String name : names) {
            Class<?> type;
            try {
                type = Class.forName("org.apache.kafka.common.message." + name + "Data");
            } catch (ClassNotFoundException e) {
                type = Class.forName("org.apache.kafka.common.message." + name);
            }
            for (Kind kind : Kind.values()) {
                print(name, type, kind);
            }
        }
    }

    static void print(String name, Class<?> type, Kind kind) throws Exception {
        Schema[] schemas = (Schema[]) type.getField("SCHEMAS").get(null);
        short lowest = type.getField("LOWEST_SUPPORTED_VERSION").getShort(null);
        short highest = type.getField("HIGHEST_SUPPORTED_VERSION").getShort(null);
        Map<String, String> versionsByBytes = new LinkedHashMap<>();
        for (short version = lowest; version <= highest; version++) {
            String bytes;
            try {
                bytes = bytes(type, kind, schemas[version], version);
            } catch (NullPointerException | org.apache.kafka.common.errors.UnsupportedVersionException e) {
                bytes = "refused";
            }
            versionsByBytes.merge(bytes, Short.toString(version), (a, b) -> a + "," + b);
        }
        versionsByBytes.forEach((bytes, versions) ->
            System.out.println(name + " " + kind.name().toLowerCase() + " " + versions + " " + bytes));
    }

    static String bytes(Class<?> type, Kind kind, Schema schema, short version) throws Exception {
        Message message;
        if (kind == Kind.DEFAULT) {
            message = (Message) type.getConstructor().newInstance();
        } else {
            Object value = struct(schema, kind, "", 0);
            ByteBuffer buffer = ByteBuffer.allocate(schema.sizeOf(value));
            schema.write(buffer, value);
            buffer.flip();
            message = (Message) type.getConstructor(Readable.class, short.class)
                .newInstance(new ByteBufferAccessor(buffer), version);
        }
        ObjectSerializationCache cache = new ObjectSerializationCache();
        MessageSizeAccumulator size = new MessageSizeAccumulator();
        message.addSize(size, cache, version);
        ByteBuffer buffer = ByteBuffer.allocate(size.totalSize());
        message.write(new ByteBufferAccessor(buffer), cache, version);
        if (buffer.hasRemaining()) {
            throw new IllegalStateException(type + " wrote less than it announced");
        }
        return HexFormat.of().formatHex(buffer.array());
    }

    static Struct struct(Schema schema, Kind kind, String path, int depth) {
        Struct struct = new Struct(schema);
        for (BoundField field : schema.fields()) {
            struct.set(field, value(field.def.type, kind, path + "." + field.def.name, depth));
        }
        return struct;
    }

    static Object value(Type type, Kind kind, String path, int depth) {
        if (type.isNullable() && kind == Kind.EMPTY) {
            return null;
        }
        if (type instanceof TaggedFields) {
            TreeMap<Integer, Object> fields = new TreeMap<>();
            for (Map.Entry<Integer, Field> field : tagged(type).entrySet()) {
                fields.put(field.getKey(), value(field.getValue().type, kind, path + "." + field.getValue().name, depth));
            }
            return fields;
        }
        if (type instanceof Schema) {
            return struct((Schema) type, kind, path, depth + 1);
        }
        if (type.arrayElementType().isPresent()) {
            Object[] values = new Object[kind == Kind.EMPTY ? 0 : depth < 2 ? 2 : 1];
            for (int index = 0; index < values.length; index++) {
                values[index] = value(type.arrayElementType().get(), kind, path + index, depth + 1);
            }
            return values;
        }
        return primitive(type.toString(), path);
    }

    /** A value that depends on the field's path only, so that versions with the same fields share their bytes. */
    static Object primitive(String type, String path) {
        int hash = path.hashCode() * 0x9E3779B1;
        long wide = hash * 0x9E3779B97F4A7C15L;
        switch (type) {
            case "BOOLEAN": return true;
            case "INT8": return (byte) (hash >> 8);
            case "INT16": return (short) (hash >> 8);
            case "UINT16": return (hash >> 8) & 0xffff;
            case "INT32": return hash;
            case "UINT32": return hash & 0xffffffffL;
            case "INT64": return wide;
            case "FLOAT64": return hash / 7.0;
            case "UUID": return new Uuid(wide, ~wide);
            default:
        }
        String text = "\u00e9" + Integer.toHexString(hash & 0xffff);
        if (type.endsWith("STRING")) {
            return text;
        }
        ByteBuffer bytes = ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8));
        return type.endsWith("RECORDS") ? records(bytes) : bytes;
    }

    /** Kafka 3.9 has no accessor for them. */
    @SuppressWarnings("unchecked")
    static Map<Integer, Field> tagged(Type type) {
        try {
            java.lang.reflect.Field fields = TaggedFields.class.getDeclaredField("fields");
            fields.setAccessible(true);
            return (Map<Integer, Field>) fields.get(type);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    static Object records(ByteBuffer bytes) {
        try {
            Class<?> type = Class.forName("org.apache.kafka.common.record.internal.MemoryRecords");
            Method method = type.getMethod("readableRecords", ByteBuffer.class);
            return method.invoke(null, bytes);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }
}
