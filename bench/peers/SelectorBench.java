import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.StringJoiner;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.zip.GZIPInputStream;
import org.apache.activemq.artemis.api.core.SimpleString;
import org.apache.activemq.artemis.selector.filter.Filterable;
import org.apache.activemq.command.ActiveMQMessage;
import org.apache.activemq.command.Message;
import org.apache.activemq.filter.MessageEvaluationContext;

/**
 * Times the selector engines of two brokers over messages in memory.
 *
 * <pre>java SelectorBench ENGINE MESSAGES SELECTORS SECONDS [--alone NAME]</pre>
 *
 * ENGINE is activemq or artemis, MESSAGES JSON Lines (plain or .gz, one flat object each), SELECTORS one flat JSON
 * object of names and texts. With --alone the JVM sees one selector only, so every call site stays monomorphic;
 * without, all selectors take turns, one pass each. Warms up for SECONDS, then measures for SECONDS: passes over all
 * messages ("20k"), and as many evaluations over the first 2,000 ("2k"). Every pass must give the same number of hits.
 * Prints one JSON object: per selector hits, selected indices, median and least ns per message.
 */
public final class SelectorBench {
    private static final int CYCLED = 2_000;
    private static final int LEAST_PASSES = 9;

    /** A selector, compiled by an engine, over the objects that this engine evaluates. */
    private interface Test {
        boolean matches(Object message) throws Exception;
    }

    private interface Engine {
        Object message(Map<String, Object> properties) throws Exception;

        Test compile(String selector) throws Exception;
    }

    /**
     * ActiveMQ Classic: a message command through an evaluation context. The broker's own context also counts
     * references under a lock, twice per message; that is no part of the selector and is left out here.
     */
    private static final class Classic implements Engine {
        private static final class Context extends MessageEvaluationContext {
                public Message getMessage() {
                return message;
            }

            void set(Message current) {
                message = current;
            }
        }

        public Object message(Map<String, Object> properties) throws Exception {
            ActiveMQMessage message = new ActiveMQMessage();
            for (Map.Entry<String, Object> property : properties.entrySet()) {
                switch (property.getKey()) {
                    case "JMSType" -> message.setType((String) property.getValue());
                    case "JMSPriority" -> message.setPriority(((Number) property.getValue()).byteValue());
                    default -> message.setProperty(property.getKey(), property.getValue());
                }
            }
            return message;
        }

        public Test compile(String selector) throws Exception {
            var expression = org.apache.activemq.selector.SelectorParser.parse(selector);
            Context context = new Context();
            return message -> {
                context.set((ActiveMQMessage) message);
                return expression.matches(context);
            };
        }
    }

    /** Artemis: a bare map of properties, cheaper to ask than the broker's own encoded messages. */
    private static final class Artemis implements Engine {
        private record Bag(Map<SimpleString, Object> properties) implements Filterable {
            public Object getProperty(SimpleString name) {
                return properties.get(name);
            }

            public <T> T getBodyAs(Class<T> type) {
                return null;
            }

            public Object getLocalConnectionId() {
                return null;
            }
        }

        private final Map<String, SimpleString> names = new HashMap<>();

        public Object message(Map<String, Object> properties) {
            Map<SimpleString, Object> bag = new HashMap<>();
            properties.forEach((name, value) -> bag.put(names.computeIfAbsent(name, SimpleString::of), value));
            return new Bag(bag);
        }

        public Test compile(String selector) throws Exception {
            var expression = org.apache.activemq.artemis.selector.impl.SelectorParser.parse(selector);
            return message -> expression.matches((Bag) message);
        }
    }

    /** Just enough of JSON: the members of one flat object of strings, numbers, true, false and null. */
    private static final class Json {
        private static final String STRING = "\"([^\"\\\\]*+(?:\\\\.[^\"\\\\]*+)*+)\"";
        private static final Pattern MEMBER = Pattern.compile(STRING + "\\s*:\\s*(?:" + STRING + "|([^,}\\s]+))");
        private static final Pattern ESCAPE = Pattern.compile("\\\\(?:u(\\p{XDigit}{4})|(.))");

        static Map<String, Object> read(String text) {
            Map<String, Object> found = new LinkedHashMap<>();
            for (Matcher member = MEMBER.matcher(text); member.find();) {
                String word = member.group(3);
                found.put(string(member.group(1)).intern(), word == null ? string(member.group(2)) : value(word));
            }
            return found;
        }

        private static Object value(String word) {
            return switch (word) {
                case "true" -> Boolean.TRUE;
                case "false" -> Boolean.FALSE;
                case "null" -> null;
                default -> word.matches("-?[0-9]+") ? whole(Long.parseLong(word)) : Double.valueOf(word);
            };
        }

        private static Object whole(long value) {
            return (int) value == value ? (Object) (int) value : (Object) value;
        }

        private static String string(String quoted) {
            return ESCAPE.matcher(quoted).replaceAll(escape -> {
                int plain = escape.group(2) == null ? -1 : "nrtbf".indexOf(escape.group(2));
                String c = escape.group(1) != null ? "" + (char) Integer.parseInt(escape.group(1), 16)
                    : plain < 0 ? escape.group(2) : "\n\r\t\b\f".substring(plain, plain + 1);
                return Matcher.quoteReplacement(c);
            });
        }
    }

    /** One selector, its answers and its times. */
    private static final class Subject {
        final Test test;
        final List<Integer> selected = new ArrayList<>();
        final List<Double> streamed = new ArrayList<>();
        final List<Double> cycled = new ArrayList<>();

        Subject(Test test, Object[] messages) throws Exception {
            this.test = test;
            for (int i = 0; i < messages.length; i++) {
                if (test.matches(messages[i])) {
                    selected.add(i);
                }
            }
        }

        /** Ask about every one of the messages, {@code times} times over, and give ns per message. */
        double time(Object[] messages, int times) throws Exception {
            long expected = times * selected.stream().filter(i -> i < messages.length).count();
            long start = System.nanoTime();
            long hits = 0;
            for (int i = 0; i < times; i++) {
                hits += pass(test, messages);
            }
            long nanos = System.nanoTime() - start;
            if (hits != expected) {
                throw new IllegalStateException(hits + " hits instead of " + expected);
            }
            return (double) nanos / times / messages.length;
        }

        public String toString() {
            return "{\"hits\": " + selected.size() + figures("20k", streamed) + figures("2k", cycled)
                + ", \"selected\": " + selected + "}";
        }

        private static String figures(String size, List<Double> times) {
            double[] sorted = times.stream().mapToDouble(Double::doubleValue).sorted().toArray();
            return String.format(Locale.ROOT, ", \"ns_%s\": %.2f, \"min_%s\": %.2f",
                size, sorted[sorted.length / 2], size, sorted[0]);
        }
    }

    private static int pass(Test test, Object[] messages) throws Exception {
        int hits = 0;
        for (Object message : messages) {
            if (test.matches(message)) {
                hits++;
            }
        }
        return hits;
    }

    private static void run(Iterable<Subject> subjects, Object[] all, Object[] few, double seconds, boolean measured)
        throws Exception {
        long end = System.nanoTime() + (long) (seconds * 1e9);
        for (int round = 0; round < LEAST_PASSES || System.nanoTime() < end; round++) {
            for (Subject subject : subjects) {
                double streamed = subject.time(all, 1);
                double cycled = subject.time(few, Math.max(1, all.length / few.length));
                if (measured) {
                    subject.streamed.add(streamed);
                    subject.cycled.add(cycled);
                }
            }
        }
    }

    private static Object[] messages(Path path, Engine engine) throws Exception {
        List<Object> found = new ArrayList<>();
        try (InputStream file = Files.newInputStream(path);
            InputStream plain = path.toString().endsWith(".gz") ? new GZIPInputStream(file) : file;
            BufferedReader lines = new BufferedReader(new InputStreamReader(plain, StandardCharsets.UTF_8))) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                found.add(engine.message(Json.read(line)));
            }
        }
        return found.toArray();
    }

    /** See the class. */
    public static void main(String[] arguments) throws Exception {
        Engine engine = switch (arguments[0]) {
            case "activemq" -> new Classic();
            case "artemis" -> new Artemis();
            default -> throw new IOException("no engine " + arguments[0]);
        };
        Object[] all = messages(Path.of(arguments[1]), engine);
        Object[] few = Arrays.copyOf(all, Math.min(CYCLED, all.length));
        double seconds = Double.parseDouble(arguments[3]);
        Map<String, Object> texts = Json.read(Files.readString(Path.of(arguments[2])));
        if (arguments.length > 5 && arguments[4].equals("--alone")) {
            texts.keySet().retainAll(List.of(arguments[5]));
        }
        Map<String, Subject> subjects = new LinkedHashMap<>();
        for (Map.Entry<String, Object> text : texts.entrySet()) {
            subjects.put(text.getKey(), new Subject(engine.compile((String) text.getValue()), all));
        }
        run(subjects.values(), all, few, seconds, false);
        System.gc();
        run(subjects.values(), all, few, seconds, true);
        StringJoiner report = new StringJoiner(",\n ", "{", "}");
        subjects.forEach((name, subject) -> report.add('"' + name + "\": " + subject));
        System.out.println(report);
    }
}
